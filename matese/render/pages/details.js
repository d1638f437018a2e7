// The details of an error, under the pointer and the keyboard, and the colours.
const details = byId("details"), LABEL = 18; // pixels of a label above an error
const hide = () => { details.hidden = true; };
const showDetails = (mark) => {
  if (byId("editor")?.hidden === false) return; // which shows more
  details.replaceChildren(...mark.errors.map(({ error, text }) => element("div", "", describe(error), element("br"), element("q", "", visible(text)))));
  details.hidden = false;
  const place = mark.getBoundingClientRect(), own = details.getBoundingClientRect(); // of all lines of the error
  const left = Math.max(8, Math.min(place.left, document.documentElement.clientWidth - own.width - 8));
  const above = place.top - own.height - LABEL; // of two places that do not cover the error, the one with room
  const isBelow = place.bottom + own.height + 8 < window.innerHeight || above < 0;
  details.style.left = `${left}px`;
  details.style.top = `${isBelow ? place.bottom + 6 : above}px`;
};
const markOf = (event) => (event.target.closest ? event.target.closest("mark") : null);
for (const name of ["mouseover", "focusin", "click"]) {
  byId("list").addEventListener(name, (event) => { const mark = markOf(event); if (mark) showDetails(mark); });
}
// Details of an error that the keyboard went to stay with it; those under a pointer that no longer points there go. Rows
// that scroll away under a resting pointer leave it, too.
const settle = () => {
  const mark = document.activeElement.closest("mark");
  if (mark && !details.hidden) showDetails(mark); else hide();
};
byId("list").addEventListener("mouseout", (event) => { if (markOf(event)) settle(); });
byId("list").addEventListener("focusout", (event) => { if (markOf(event)) hide(); });
window.addEventListener("scroll", settle, { passive: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

const THEMES = ["automatic", "light", "dark"];
byId("theme").addEventListener("click", () => {
  const root = document.documentElement, next = THEMES[(THEMES.indexOf(root.dataset.theme ?? "automatic") + 1) % 3];
  if (next === "automatic") delete root.dataset.theme; else root.dataset.theme = next;
  byId("theme").textContent = `Colours: ${next}`;
});
