// Tips: the text of a mark beside the pointer or the focused mark.

const root = document.documentElement;
const tip = document.getElementById("tip");
const marked = (target) => target instanceof Element && target.closest("[data-t]");
const showTip = (mark, x, y) => {
  tip.textContent = mark.getAttribute("data-t");
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? Math.max(4, x - 14 - box.width) : x + 16;
  const top = y + 16 + box.height > innerHeight ? Math.max(4, y - 12 - box.height) : y + 16;
  tip.style.transform = `translate(${left}px, ${top}px)`;
};
const hideTip = () => { tip.hidden = true; };
const follow = (event) => {
  const mark = marked(event.target);
  if (mark) showTip(mark, event.clientX, event.clientY); else hideTip();
};
document.addEventListener("pointermove", follow);
document.addEventListener("pointerdown", follow);
document.addEventListener("scroll", hideTip, { passive: true });
document.addEventListener("focusin", (event) => {
  const mark = marked(event.target);
  if (!mark || !mark.matches(":focus-visible")) return;
  const box = mark.getBoundingClientRect();
  showTip(mark, box.right, box.top);
});
document.addEventListener("focusout", hideTip);
