// Tables: sort by a column, find rows, count what is shown, save as CSV, read on a phone.

const allTables = () => [...document.querySelectorAll("table")];
const keyOf = (head) => head.textContent.trim().toLowerCase().split(/[ ,]/)[0];
const headsOf = (table) => [...table.tHead.rows[0].cells];

const valueOf = (row, column) => {
  const cell = row.cells[column];
  if (!cell.classList.contains("n")) return cell.textContent.toLowerCase();
  return cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
};
const compare = (a, b) => {
  if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
  return a - b;
};
const sortBy = (head, way) => {
  const table = head.closest("table");
  for (const other of headsOf(table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", way);
  const sign = way === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, head.cellIndex), row]);
  const unknown = (key) => key === "" || Number.isNaN(key);
  rows.sort(([a], [b]) => unknown(a) - unknown(b) || (unknown(a) ? 0 : sign * compare(a, b)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
};
// Tables may come and go, so the document listens for them.
const onButton = (selector, act) => document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest(selector);
  if (button) act(button);
});
onButton("th button", (button) => {
  const head = button.parentElement;
  const first = head.classList.contains("n") ? "descending" : "ascending";
  const was = head.getAttribute("aria-sort");
  const way = was ? (was === "ascending" ? "descending" : "ascending") : first;
  sortBy(head, way);
  remember(`sort-${head.closest("table").id.slice(6)}`, `${keyOf(head)}-${way}`);
});

// A search is words that must all occur: `probes=3` compares a column, `10.0.0.0/8` holds addresses.
const comparisons = {
  "=": (a, b) => a === b, ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b,
};
const termOf = (word, heads) => {
  const parts = /^([a-z]+)(<=|>=|=|<|>)(.+)$/.exec(word);
  const column = parts ? heads.findIndex((head) => keyOf(head) === parts[1]) : -1;
  if (column >= 0) {
    const isNumber = heads[column].classList.contains("n");
    const wanted = isNumber ? Number(parts[3]) : parts[3];
    return (row) => comparisons[parts[2]](valueOf(row, column), wanted);
  }
  const range = rangeOf(word);
  const address = heads.findIndex((head) => keyOf(head) === "address");
  if (range && address >= 0) return (row) => isInside(range, row.cells[address].textContent);
  return (row) => row.textContent.toLowerCase().includes(word);
};
const filter = (table, text) => {
  const heads = headsOf(table);
  const words = text.toLowerCase().replace(/\s+-\s+/g, "-").split(/\s+/).filter(Boolean);
  const tests = words.map((word) => termOf(word, heads));
  for (const row of table.tBodies[0].rows) row.hidden = !tests.every((test) => test(row));
};
const isShown = (row) => !row.hidden && !row.classList.contains("off");
const countRows = () => {
  for (const table of allTables()) {
    const rows = [...table.tBodies[0].rows];
    const shown = rows.filter(isShown).length;
    const [all, some] = table.caption?.children ?? [];
    if (!some) continue;
    all.hidden = shown !== rows.length;
    some.textContent = all.hidden ? `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows` : "";
  }
};
const fields = [...document.querySelectorAll("input[data-for]")];
for (const field of fields) {
  field.addEventListener("input", () => {
    filter(document.getElementById(field.dataset.for), field.value);
    countRows();
    remember("find", field.value.trim());
  });
}
const searchSites = (text) => {
  const [field] = fields;
  if (!field) return;
  field.value = text;
  field.dispatchEvent(new Event("input"));
  hideTip();
  field.closest(".card").scrollIntoView({ block: "start" });
  field.focus({ preventScroll: true });
};
onRestore((state) => {
  for (const field of fields) {
    field.value = state.get("find") ?? "";
    filter(document.getElementById(field.dataset.for), field.value);
  }
  for (const table of allTables()) {
    const [key, way] = (state.get(`sort-${table.id.slice(6)}`) ?? "").split("-");
    const head = headsOf(table).find((one) => keyOf(one) === key);
    if (head && ["ascending", "descending"].includes(way)) sortBy(head, way);
  }
});

// CSV of the rows that are shown. A text that a spreadsheet would take for a formula gets an apostrophe.
const csvCell = (text, isNumber) => {
  const safe = !isNumber && /^[=+\-@\t\r']/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const csvOf = (table) => {
  const heads = headsOf(table).map((head) => csvCell(head.textContent.trim(), false));
  const rows = [...table.tBodies[0].rows].filter(isShown).map((row) => [...row.cells].map((cell) => (
    cell.classList.contains("n") ? csvCell(cell.dataset.v ?? "", true) : csvCell(cell.textContent, false)
  )));
  return `${[heads, ...rows].map((row) => row.join(",")).join("\r\n")}\r\n`;
};
onButton("button[data-csv]", (button) => {
  const table = document.getElementById(button.dataset.csv);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csvOf(table)], { type: "text/csv" }));
  link.download = `${button.dataset.csv.replace("table-", "ipmicra-")}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
});

// On a phone a row is a card; each cell then names its column.
const narrow = matchMedia("(max-width: 560px)");
const nameCells = () => {
  if (!narrow.matches) return;
  for (const table of allTables()) {
    const names = headsOf(table).map((head) => head.textContent.trim());
    for (const row of table.tBodies[0].rows) {
      for (const cell of row.cells) cell.dataset.h = names[cell.cellIndex];
    }
  }
};
narrow.addEventListener("change", nameCells);
nameCells();
