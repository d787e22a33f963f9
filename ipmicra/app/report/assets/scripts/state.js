// What is chosen is written behind the # of the address: a link or a reload shows the same.

const readState = () => new URLSearchParams(location.hash.slice(1));
const remember = (key, value) => {
  const state = readState();
  if (value === "" || value === null) state.delete(key); else state.set(key, value);
  const text = state.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
};
const restorers = [];
const onRestore = (restore) => { restorers.push(restore); };
const restoreAll = () => { for (const restore of restorers) restore(readState()); };
addEventListener("hashchange", restoreAll);
