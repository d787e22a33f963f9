"use strict";
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const marked = (target) => target instanceof Element && target.closest("[data-t]");

  // --- tips: the text of a mark beside the pointer or the focused mark
  const show = (mark, x, y) => {
    tip.textContent = mark.getAttribute("data-t");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = x + 16 + box.width > innerWidth ? Math.max(4, x - 14 - box.width) : x + 16;
    const top = y + 16 + box.height > innerHeight ? Math.max(4, y - 12 - box.height) : y + 16;
    tip.style.transform = `translate(${left}px, ${top}px)`;
  };
  const hide = () => { tip.hidden = true; };
  const follow = (event) => {
    const mark = marked(event.target);
    if (mark) show(mark, event.clientX, event.clientY); else hide();
  };
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerdown", follow);
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("focusin", (event) => {
    const mark = marked(event.target);
    if (!mark || !mark.matches(":focus-visible")) return;
    const box = mark.getBoundingClientRect();
    show(mark, box.right, box.top);
  });
  document.addEventListener("focusout", hide);

  // --- legend: one crawler alone
  const choices = [...document.querySelectorAll(".legend [data-c]")];
  const only = (crawler) => {
    if (crawler === "") delete root.dataset.only; else root.dataset.only = crawler;
    for (const mark of document.querySelectorAll(".m")) {
      mark.classList.toggle("off", crawler !== "" && !mark.classList.contains(`k${crawler}`));
    }
    for (const choice of choices) {
      if (choice.dataset.c === "") choice.hidden = crawler === "";
      else choice.setAttribute("aria-pressed", String(choice.dataset.c === crawler));
    }
  };
  for (const choice of choices) {
    choice.addEventListener("click", () => only(root.dataset.only === choice.dataset.c ? "" : choice.dataset.c));
  }
  const owner = (mark) => {
    const layer = mark.closest(".m");
    const name = layer && [...layer.classList].find((word) => /^k\d+$/.test(word));
    return name ? name.slice(1) : null;
  };
  const pick = (mark) => {
    const crawler = owner(mark);
    if (crawler !== null) only(root.dataset.only === crawler ? "" : crawler);
  };
  for (const mark of document.querySelectorAll("svg .crawler [data-t], #load .bar [data-t]")) {
    mark.addEventListener("click", () => pick(mark));
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { only(""); hide(); }
    const mark = marked(event.target);
    if (mark && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); pick(mark); }
  });

  // --- tables: sort by a column, numbers as numbers
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell.classList.contains("n")) return cell.textContent.toLowerCase();
    return cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
    return a - b;
  };
  const sort = (head) => {
    const table = head.closest("table");
    const column = head.cellIndex;
    const isNumber = head.classList.contains("n");
    const was = head.getAttribute("aria-sort");
    const way = was ? (was === "ascending" ? "descending" : "ascending") : isNumber ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", way);
    const sign = way === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
    const unknown = (key) => key === "" || Number.isNaN(key);
    rows.sort(([a], [b]) => unknown(a) - unknown(b) || (unknown(a) ? 0 : sign * compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };
  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => sort(button.parentElement));
  }
  for (const field of document.querySelectorAll("input[data-for]")) {
    const body = document.getElementById(field.dataset.for).tBodies[0];
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  // --- map: zoom by buttons, move by dragging
  for (const figure of document.querySelectorAll("figure.zoom")) {
    const svg = figure.querySelector("svg");
    const whole = svg.viewBox.baseVal;
    const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
    const round = [...svg.querySelectorAll("circle")].map((circle) => [circle, Number(circle.getAttribute("r"))]);
    const names = [...svg.querySelectorAll(".name text")].map((text) => {
      const number = [...text.parentElement.classList].find((word) => /^k\d+$/.test(word));
      const circle = svg.querySelector(`.crawler.${number} circle`);
      return [text, circle.getAttribute("cx"), circle.getAttribute("cy")];
    });
    let view = { ...full };
    const set = (next) => {
      const width = Math.min(full.width, Math.max(full.width / 24, next.width));
      const height = width * full.height / full.width;
      const x = Math.min(full.width - width, Math.max(0, next.x));
      const y = Math.min(full.height - height, Math.max(0, next.y));
      view = { x, y, width, height };
      svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
      const shrink = width / full.width;
      for (const [circle, radius] of round) circle.setAttribute("r", radius * shrink);
      for (const [text, cx, cy] of names) {
        text.setAttribute("transform", `translate(${cx} ${cy}) scale(${shrink}) translate(${-cx} ${-cy})`);
      }
    };
    const middle = () => {
      const chosen = root.dataset.only !== undefined && svg.querySelector(`.crawler.k${root.dataset.only} circle`);
      if (chosen) return [Number(chosen.getAttribute("cx")), Number(chosen.getAttribute("cy"))];
      return [view.x + view.width / 2, view.y + view.height / 2];
    };
    const zoom = (factor, [cx, cy] = middle()) => {
      const width = Math.min(full.width, Math.max(full.width / 24, view.width * factor));
      const real = width / view.width;
      set({ x: cx - (cx - view.x) * real, y: cy - (cy - view.y) * real, width });
    };
    for (const button of figure.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => {
        if (button.dataset.zoom === "all") set(full); else zoom(button.dataset.zoom === "in" ? 0.6 : 1 / 0.6);
      });
    }
    svg.addEventListener("dblclick", (event) => {
      const box = svg.getBoundingClientRect();
      const across = (event.clientX - box.left) / box.width;
      const down = (event.clientY - box.top) / box.height;
      zoom(0.5, [view.x + across * view.width, view.y + down * view.height]);
    });
    let held = null;
    svg.addEventListener("pointerdown", (event) => { held = { x: event.clientX, y: event.clientY, view }; });
    svg.addEventListener("pointermove", (event) => {
      if (!held || !event.buttons) { held = null; return; }
      const pixel = held.view.width / svg.getBoundingClientRect().width;
      set({ x: held.view.x - (event.clientX - held.x) * pixel, y: held.view.y - (event.clientY - held.y) * pixel, width: held.view.width });
    });
  }
})();
