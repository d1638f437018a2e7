// Search, filters, order and keys.
const DATA = JSON.parse(byId("data").textContent), ROWS = DATA.rows, controls = byId("controls");
for (const row of ROWS) {
  for (const text of row.t) {
    text.q = row.t.length === 1 ? row.q.map((error) => error[2]) : [];
    text.x ??= [];
    text.all = text.e;
    text.allMissing = text.x;
  }
}
const worst = (text) => Math.max(-1, ...text.q, ...text.e.map((error) => error[2]), ...text.x.map((error) => error[3]), ...text.u.map((error) => error[0]));
const isCompared = ROWS.some((row) => row.d !== undefined);
const nOf = (row) => row.t.reduce((sum, text) => sum + text.e.length + text.x.length + text.u.length, 0);
const ranked = (row) => Math.min(...row.t.map((text) => text.o?.[1] ?? text.m ?? 0)); // the expected score, if there is one
const ORDERS = {
  "as in the file": null,
  "worst first": (a, b) => ranked(a) - ranked(b),
  "best first": (a, b) => ranked(b) - ranked(a),
  "most errors first": (a, b) => nOf(b) - nOf(a),
};
if (isCompared) {
  ORDERS["largest difference first"] = (a, b) => Math.abs(b.d) - Math.abs(a.d);
  if (DATA.systems.length === 2) { // of more, a difference has no direction
    ORDERS["largest gain first"] = (a, b) => b.d - a.d;
    ORDERS["largest loss first"] = (a, b) => a.d - b.d;
  }
}
const choices = (id, names, counts) => { // boxes to tick, all ticked; hidden where there is nothing to choose
  const group = byId(id);
  group.hidden = names.length < 2;
  names.forEach((name, at) => {
    const box = element("input");
    box.type = "checkbox";
    box.defaultChecked = true;
    box.value = name;
    group.append(element("label", "", box, ` ${visible(name)}${counts ? ` (${counts[at].toLocaleString("en")})` : ""}`));
  });
};
const chosen = (id) => {
  const boxes = [...byId(id).querySelectorAll("input")];
  return boxes.every((box) => box.checked) ? null : new Set(boxes.filter((box) => box.checked).map((box) => box.value));
};

const kindOf = (text) => (text.m === null ? "not annotated" : worst(text) < 0 ? "no error" : SEVERITIES[worst(text)]);
const texts = ROWS.flatMap((row) => row.t), tally = new Map();
for (const text of texts) tally.set(kindOf(text), (tally.get(kindOf(text)) ?? 0) + 1);
const kinds = ["critical", "major", "minor", "neutral", "undecided", "no error", "not annotated"].filter((kind) => tally.has(kind));
choices("severities", kinds, kinds.map((kind) => tally.get(kind)));
const changes = Object.keys(CHANGES).filter((change) => texts.some((text) => text.e.some((error) => error[5] === change)));
choices("changes", changes);
choices("systems", DATA.systems);
const confidences = texts.flatMap((text) => [...text.all.map((error) => error[4]), ...text.allMissing.map((error) => error[5])]).filter((value) => value != null);
const certain = byId("certain"), lowestConfidence = Math.floor(100 * confidences.reduce((least, one) => Math.min(least, one), 1));
certain.parentElement.hidden = new Set(confidences).size < 2;
certain.min = certain.defaultValue = certain.value = lowestConfidence;
const hasSpans = texts.some((text) => text.m !== null);
const hasSystems = ROWS.some((row) => row.t.length > 1), hasReference = ROWS.some((row) => row.r.length);
byId("differences").append(new Option("none", "none"));
if (hasSystems) byId("differences").append(new Option("between systems", "systems"));
if (hasReference) byId("differences").append(new Option("from the reference", "reference"));
byId("differences").parentElement.hidden = !hasSystems && !hasReference;
for (const name of Object.keys(ORDERS)) {
  const isFirst = isCompared && name.startsWith("largest difference"); // by default, and now
  byId("sort").append(new Option(name, name, isFirst, isFirst));
}

let shownSystems = null;
const isShown = (system) => !shownSystems || shownSystems.has(DATA.systems[system]);
const draw = (index, at, count) => {
  const box = drawRow(ROWS[index], DATA.systems, isShown, byId("differences").value);
  box.dataset.row = index;
  box.setAttribute("aria-posinset", at + 1);
  box.setAttribute("aria-setsize", count);
  return box;
};
const list = makeList(byId("list"), draw, (index) => {
  const row = ROWS[index], letters = row.t.reduce((sum, text) => sum + text.h.length, 0);
  return 60 + 31 * row.t.length + 26 * (row.r.length + (row.s !== null)) + letters / 4;
});
const haystacks = [];
const haystack = (index) => haystacks[index] ??= [ROWS[index].s ?? "", ...ROWS[index].r, ...ROWS[index].t.map((text) => text.h)]
  .join("\n").normalize().toLowerCase();

const apply = () => {
  const needle = byId("search").value.normalize().toLowerCase(), severities = chosen("severities"), wanted = chosen("changes");
  shownSystems = chosen("systems");
  const least = certain.valueAsNumber / 100, isEvery = certain.value === certain.min;
  const isSure = (confidence) => isEvery || confidence == null || confidence >= least;
  for (const text of texts) {
    text.e = text.all.filter((error) => isSure(error[4]));
    text.x = text.allMissing.filter((error) => isSure(error[5]));
  }
  byId("least").textContent = `${certain.value} %`;
  const low = byId("low").valueAsNumber, high = byId("high").valueAsNumber; // NaN where nothing is given
  const fits = (text) => isShown(text.n) && (!severities || severities.has(kindOf(text)))
    && !(scoreOf(text) < low) && !(scoreOf(text) > high) && !(scoreOf(text) === null && (low === low || high === high))
    && (!wanted || text.e.some((error) => wanted.has(error[5])));
  const order = [];
  ROWS.forEach((row, index) => {
    if (row.t.some(fits) && (!needle || haystack(index).includes(needle))) order.push(index);
  });
  const compare = ORDERS[byId("sort").value];
  if (compare) order.sort((a, b) => compare(ROWS[a], ROWS[b]) || a - b);
  const counted = `${order.length.toLocaleString("en")} of ${ROWS.length.toLocaleString("en")} segments`;
  const scored = order.flatMap((index) => ROWS[index].t).filter((text) => isShown(text.n) && (!hasSpans || text.m !== null) && scoreOf(text) !== null);
  const means = DATA.systems.map((system, at) => { // one for each system: a mean over several says nothing
    const own = scored.filter((text) => text.n === at), sum = own.reduce((total, text) => total + scoreOf(text), 0);
    return own.length ? `${DATA.systems.length > 1 ? `${visible(system)} ` : ""}${number(sum / own.length)}` : "";
  }).filter(Boolean);
  byId("status").textContent = means.length && means.length <= 4 ? `${counted}, mean ${hasSpans ? "" : "overall "}score ${means.join(", ")}` : counted;
  hide();
  list.set(order);
};

let isWaiting = 0;
controls.addEventListener("input", () => { clearTimeout(isWaiting); isWaiting = setTimeout(apply, 80); });
controls.addEventListener("reset", () => setTimeout(apply));
controls.addEventListener("submit", (event) => event.preventDefault());

const step = (by) => { // to the next or previous segment
  const focused = document.activeElement.closest(".row"), rows = list.rows();
  const from = focused ? rows.indexOf(Number(focused.dataset.row)) : list.current() - (by > 0);
  const at = Math.max(0, Math.min(rows.length - 1, from + by));
  if (rows.length) list.reveal(at).focus({ preventScroll: true });
};
const stepError = (by) => { // to the next or previous error, in this segment or another
  const active = document.activeElement, focused = active.closest(".row"), rows = list.rows();
  let at = focused ? rows.indexOf(Number(focused.dataset.row)) : list.current();
  if (focused) {
    const marks = [...focused.querySelectorAll("mark")], inside = marks.indexOf(active);
    const next = marks[inside < 0 ? (by > 0 ? 0 : -1) : inside + by];
    if (next) { next.focus(); return; }
    at += by;
  }
  while (at >= 0 && at < rows.length) {
    const marks = ROWS[rows[at]].t.some((text) => isShown(text.n) && text.e.length + text.x.length) ? list.reveal(at).querySelectorAll("mark") : [];
    if (marks.length) {
      marks[by > 0 ? 0 : marks.length - 1].focus({ preventScroll: true });
      return;
    }
    at += by;
  }
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT"].includes(event.target.tagName)) return;
  const act = { "/": () => byId("search").focus(), j: () => step(1), k: () => step(-1), n: () => stepError(1), p: () => stepError(-1) }[event.key];
  if (act) { event.preventDefault(); act(); }
});

controls.hidden = false;
apply();
