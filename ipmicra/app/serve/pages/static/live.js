// What changes while one looks: the server renders it, and only what differs is replaced.

const cellsOf = (row) => [...row.cells];
const keyOf = (row) => row.cells[0].textContent;
// Keep the rows that are there, and with them their order, their choice and the focus.
const mergeTable = (old, fresh) => {
  const rows = new Map([...old.tBodies[0].rows].map((row) => [keyOf(row), row]));
  for (const row of fresh.tBodies[0].rows) {
    const known = rows.get(keyOf(row));
    rows.delete(keyOf(row));
    if (!known || known.cells.length !== row.cells.length) { known?.remove(); old.tBodies[0].append(row.cloneNode(true)); continue; }
    cellsOf(row).forEach((cell, i) => {
      if (known.cells[i].innerHTML === cell.innerHTML && known.cells[i].className === cell.className) return;
      known.cells[i].replaceWith(cell.cloneNode(true));
    });
  }
  for (const row of rows.values()) row.remove();
};
const headsOf = (table) => [...table.tHead.rows[0].cells].map((head) => head.textContent);
const isAlike = (a, b) => a && b && headsOf(a).join("|") === headsOf(b).join("|");
// On a phone each cell shows the name of its column.
const nameCells = (table) => {
  const names = headsOf(table);
  for (const row of table.tBodies[0].rows) for (const cell of row.cells) cell.dataset.h = names[cell.cellIndex];
};
const merge = (html) => {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const table of fresh.querySelectorAll("table")) nameCells(table);
  for (const section of fresh.querySelectorAll("section[id]")) {
    const old = document.getElementById(section.id);
    if (!old) continue;
    const [table, newer] = [old.querySelector("table"), section.querySelector("table")];
    if (!isAlike(table, newer)) {
      if (old.innerHTML !== section.innerHTML) old.replaceChildren(...document.importNode(section, true).childNodes);
      continue;
    }
    table.caption.firstElementChild.textContent = newer.caption.firstElementChild.textContent;
    if (section.id === "events") table.tBodies[0].replaceWith(document.importNode(newer.tBodies[0], true));
    else mergeTable(table, newer);
  }
};
const source = new EventSource("/stream");
source.addEventListener("live", (event) => { document.body.classList.remove("offline"); merge(JSON.parse(event.data)); });
source.addEventListener("error", () => {
  document.body.classList.add("offline");
  // A stream that is refused is not asked for again: the session is over.
  if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 3000);
});
addEventListener("pagehide", () => source.close());
