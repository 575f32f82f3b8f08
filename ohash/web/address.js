// Where the link is kept, and what is copied of it: the query of the page, the fragment of a file, or nowhere, since a
// notebook has its own address; there a call is copied.

const here = { title: "Copy link", copy: () => location.href, otherwise: "In the address bar" };
const ADDRESSES = {
  query: {
    ...here,
    read: () => (isLink(location.hash) ? location.hash : location.search), // a lesson sets the fragment
    write: (link) => {
      const others = [...new URLSearchParams(location.search)].filter(([key]) => !LINK_KEYS.includes(key));
      const text = [new URLSearchParams(others).toString(), link].filter(Boolean).join("&");
      replaceAddress(`${location.pathname}${text && `?${text}`}`);
    },
  },
  fragment: { ...here, read: () => location.hash, write: (link) => replaceAddress(`#${link}`) },
  none: {
    title: "Copy call", copy: (link) => `ohash.playground("${link}")`, otherwise: "Not allowed to copy",
    read: () => "", write: () => {},
  },
};

function replaceAddress(address) { history.replaceState(history.state, "", address); }
