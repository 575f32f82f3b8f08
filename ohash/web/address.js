// Where the link is kept: the query of the page, the fragment of a file, or nowhere (a notebook has its own address).

const ADDRESSES = {
  query: {
    read: () => (location.hash.length > 1 ? location.hash : location.search), // a lesson sets the fragment
    write: (link) => {
      const others = [...new URLSearchParams(location.search)].filter(([key]) => !LINK_KEYS.includes(key));
      const text = [new URLSearchParams(others).toString(), link].filter(Boolean).join("&");
      replaceAddress(`${location.pathname}${text && `?${text}`}`);
    },
  },
  fragment: { read: () => location.hash, write: (link) => replaceAddress(`#${link}`) },
  none: { read: () => "", write: () => {} },
};

function replaceAddress(address) { history.replaceState(history.state, "", address); }
