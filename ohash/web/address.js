// Where the link is kept, and what is copied of it: the query of the page, the fragment of a file, or nowhere, since a
// notebook has its own address; there a call is copied.

// A tab remembers the link at which it was playing: one with a pair waits there, but a page loaded again goes on, and so
// does one that a class was sent to while its lecturer plays.
const PLAYS = "ohash.plays";
const inTab = (use) => { try { return use(sessionStorage); } catch { return null; } }; // a frame may have no storage

// What tells a moment of a run from those of others.
function moment(link) {
  const { params: { data, r, T, seed }, at } = readLink(link);
  return [data, r, T, seed, at].join();
}

// Whether this tab leads a class, or follows its lecturer: then its address is the place of the class.
const says = (key) => inTab((tab) => tab.getItem(`ohash.${key}`));
function leadsClass() { return says("leads") === "yes"; }
function followsClass() { return !leadsClass() && says("been") !== null && says("follows") !== "no"; }

// The key of a lecturer is not for those who get the link.
function withoutKey(link) {
  const address = new URL(link);
  if (address.searchParams.has("key")) address.searchParams.delete("key");
  return address.href;
}

const here = {
  title: "Copy link", copy: () => withoutKey(location.href), otherwise: "In the address bar",
  fragment: () => location.hash,
  keepPlaying: (link) => inTab((tab) => (link ? tab.setItem(PLAYS, link) : tab.removeItem(PLAYS))),
  wasPlaying: (link) => { const kept = inTab((tab) => tab.getItem(PLAYS)); return kept && moment(kept) === moment(link); },
};
const ADDRESSES = {
  query: {
    ...here,
    read: () => (isLink(location.hash) ? location.hash : location.search), // a lesson sets the fragment
    pending: () => isLink(location.hash), // it has been set, and is about to be read
    write: (link) => {
      const others = [...new URLSearchParams(location.search)].filter(([key]) => !LINK_KEYS.includes(key));
      const text = [new URLSearchParams(others).toString(), link].filter(Boolean).join("&");
      replaceAddress(`${location.pathname}${text && `?${text}`}`);
    },
  },
  fragment: { ...here, read: () => location.hash, write: (link) => replaceAddress(`#${link}`), pending: () => false },
  none: {
    title: "Copy call", copy: (link) => `ohash.playground("${link}")`, otherwise: "Not allowed to copy",
    read: () => "", write: () => {}, fragment: () => "", pending: () => false,
    keepPlaying: () => {}, wasPlaying: () => false,
  },
};

function replaceAddress(address) { history.replaceState(history.state, "", address); }
