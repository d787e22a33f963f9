// Legend: one crawler alone, in all plots and tables.

const choices = [...document.querySelectorAll(".legend [data-c]")];
const showOnly = (crawler) => {
  if (crawler === "") delete root.dataset.only; else root.dataset.only = crawler;
  for (const mark of document.querySelectorAll(".m")) {
    mark.classList.toggle("off", crawler !== "" && !mark.classList.contains(`k${crawler}`));
  }
  for (const choice of choices) {
    if (choice.dataset.c === "") choice.hidden = crawler === "";
    else choice.setAttribute("aria-pressed", String(choice.dataset.c === crawler));
  }
  countRows();
};
const chooseCrawler = (crawler) => {
  const next = root.dataset.only === crawler ? "" : crawler;
  const named = choices.find((choice) => choice.dataset.c === next);
  remember("crawler", next === "" ? "" : named?.dataset.name ?? "");
  showOnly(next);
};
for (const choice of choices) choice.addEventListener("click", () => chooseCrawler(choice.dataset.c));
onRestore((state) => {
  const named = choices.find((choice) => choice.dataset.c !== "" && choice.dataset.name === state.get("crawler"));
  showOnly(named ? named.dataset.c : "");
});

const ownerOf = (mark) => {
  const layer = mark.closest(".m");
  const name = layer && [...layer.classList].find((word) => /^k\d+$/.test(word));
  return name ? name.slice(1) : null;
};
// A click on a crawler shows it alone; one on a square, a bar or a band leads to the sites behind it.
const follows = (mark) => {
  const crawler = ownerOf(mark);
  if (mark.dataset.q) searchSites(mark.dataset.q);
  else if (mark.dataset.b) drill(mark.dataset.b);
  else if (crawler !== null && mark.closest(".crawler, .bar, .arc, .dot, tbody")) chooseCrawler(crawler);
  else return false;
  return true;
};
document.addEventListener("click", (event) => {
  const mark = event.target instanceof Element && event.target.closest("[data-t], td.c");
  if (mark) follows(mark);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { remember("crawler", ""); showOnly(""); hideTip(); }
  const mark = marked(event.target);
  if (mark && (event.key === "Enter" || event.key === " ") && follows(mark)) event.preventDefault();
});
