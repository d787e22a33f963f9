// Nested subnets: a click shows a subnet as wide as the plot, with what lies in it.
// Which boxes there are and in what order was decided when the page was made; here they are only scaled.

const icicle = document.getElementById("plot-subnets");
const crumbs = document.querySelector("#subnets .crumbs");
const EDGE = 2;
const LETTER = 6.7;
let drill = () => {};
if (icicle && crumbs) {
  const whole = icicle.viewBox.baseVal;
  const [width, height] = [whole.width, whole.height];
  const labels = icicle.querySelector(".box");
  const written = [...labels.children];
  const boxes = [...icicle.querySelectorAll("[data-b]")].map((rect) => {
    const [start, sites, depth] = rect.dataset.b.split(",").map(Number);
    const was = Object.fromEntries(["x", "y", "width", "height"].map((name) => [name, Number(rect.getAttribute(name))]));
    const layer = rect.parentElement;
    const [label, name] = (rect.dataset.t ?? "").split("\n");
    const isSmall = layer.classList.contains("small");
    return { rect, start, sites, depth, was, layer, label, name, isSmall, isDeep: layer.classList.contains("deep") };
  });
  const subnets = boxes.filter((box) => box.label && !box.isSmall);
  const rowHeight = Math.min(...subnets.filter((box) => box.depth === 0).map((box) => box.was.height)) + 1;
  const holds = (outer, inner) => inner.depth >= outer.depth && inner.start >= outer.start
    && inner.start + inner.sites <= outer.start + outer.sites;
  const brief = (label) => {
    const found = /^(?:[\da-f.:]*?([.:]))??([\da-f]+)(?:\.0|::)*\/(\d+)$/.exec(label);
    return found ? `${found[1] ?? ""}${found[2]}/${found[3]}` : label;
  };
  const write = (text, x, y, size, isTurned, isBold) => {
    const element = document.createElementNS(icicle.namespaceURI, "text");
    element.textContent = text;
    for (const [name, value] of Object.entries({ x, y, "font-size": size })) element.setAttribute(name, value);
    if (isTurned) element.setAttribute("transform", `rotate(-90 ${x} ${y})`);
    if (isBold) element.setAttribute("font-weight", 600);
    labels.append(element);
  };
  const label = (box, x, y, across) => {
    const fits = Math.floor((across - 12) / LETTER);
    const lines = [box.label, /^[\d,]+ sites?: /.test(box.name ?? "") ? "" : box.name ?? ""];
    if (fits >= Math.min(box.label.length, 7)) {
      lines.forEach((text, line) => {
        const cut = text.length <= fits ? text : `${text.slice(0, fits - 1)}…`;
        if (cut) write(cut, x + 7, y + 18 + 16 * line, 11.5, false, line === 0);
      });
    } else if (across >= 13 && brief(box.label).length <= 7) {
      write(brief(box.label), x + across / 2 + 3, y + rowHeight - 12, 9.5, true, false);
    }
  };
  const place = (box, outer, scale) => {
    const across = box.sites * scale;
    box.rect.setAttribute("x", EDGE + (box.start - outer.start) * scale);
    box.rect.setAttribute("width", box.label ? across - Math.min(1, across / 5) : across);
    const foot = box.label ? 0 : rowHeight - 9;
    box.rect.setAttribute("y", 4 + (box.depth - outer.depth) * rowHeight + foot);
    box.rect.setAttribute("height", box.label ? rowHeight - 1 : box.was.height);
  };
  const crumb = (text, box) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => show(box, true));
    crumbs.append(button);
  };
  const show = (outer, isRemembered) => {
    crumbs.replaceChildren();
    if (isRemembered) remember("subnet", outer ? outer.label : "");
    for (const layer of new Set(boxes.map((box) => box.layer))) {
      layer.toggleAttribute("hidden", outer ? layer.classList.contains("small") : layer.classList.contains("deep"));
    }
    labels.replaceChildren(...(outer ? [] : written));
    if (!outer) {
      for (const { rect, was } of boxes) {
        rect.removeAttribute("hidden");
        for (const [name, value] of Object.entries(was)) rect.setAttribute(name, value);
      }
      icicle.setAttribute("viewBox", `0 0 ${width} ${height}`);
      return;
    }
    const scale = (width - 2 * EDGE) / outer.sites;
    let deepest = outer.depth;
    for (const box of boxes) {
      const isInside = holds(outer, box) && !box.isSmall;
      box.rect.toggleAttribute("hidden", !isInside);
      if (!isInside) continue;
      place(box, outer, scale);
      if (!box.label) continue;
      deepest = Math.max(deepest, box.depth);
      label(box, EDGE + (box.start - outer.start) * scale, 4 + (box.depth - outer.depth) * rowHeight, box.sites * scale);
    }
    icicle.setAttribute("viewBox", `0 0 ${width} ${8 + rowHeight * (deepest - outer.depth + 1)}`);
    crumb("all subnets", null);
    const above = subnets.filter((box) => box.depth < outer.depth && holds(box, outer));
    for (const box of above.sort((a, b) => a.depth - b.depth)) crumb(box.label, box);
    crumbs.append(Object.assign(document.createElement("strong"), { textContent: outer.label }));
    const list = Object.assign(document.createElement("button"), { type: "button", textContent: "list its sites" });
    list.addEventListener("click", () => searchSites(outer.label));
    crumbs.append(list);
  };
  let shown = null;
  drill = (span) => {
    const box = subnets.find((one) => one.rect.dataset.b === span && one.rect.dataset.t);
    if (!box) return;
    shown = box === shown ? null : box;
    show(shown, true);
    hideTip();
  };
  onRestore((state) => {
    shown = subnets.find((box) => box.label === state.get("subnet")) ?? null;
    show(shown, false);
  });
}
