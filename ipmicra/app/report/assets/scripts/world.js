// Map: zoom by buttons, move by dragging; marks and names keep their size.

for (const figure of document.querySelectorAll("figure.zoom")) {
  const svg = figure.querySelector("svg");
  const whole = svg.viewBox.baseVal;
  const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  const round = [...svg.querySelectorAll("circle")].map((circle) => [circle, Number(circle.getAttribute("r"))]);
  const centres = new Map([...svg.querySelectorAll(".crawler path")].map((mark) => {
    const box = mark.getBBox();
    return [ownerOf(mark), { mark, x: box.x + box.width / 2, y: box.y + box.height / 2 }];
  }));
  const names = [...svg.querySelectorAll(".name text")];
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
    const about = (at) => `translate(${at.x} ${at.y}) scale(${shrink}) translate(${-at.x} ${-at.y})`;
    for (const at of centres.values()) at.mark.setAttribute("transform", about(at));
    for (const name of names) name.setAttribute("transform", about(centres.get(ownerOf(name))));
  };
  const middle = () => {
    const chosen = centres.get(root.dataset.only);
    return chosen ? [chosen.x, chosen.y] : [view.x + view.width / 2, view.y + view.height / 2];
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
restoreAll();
