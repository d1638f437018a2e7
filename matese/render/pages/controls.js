// Search, filters, order and keys.
const DATA = JSON.parse(byId("data").textContent), ROWS = DATA.rows, controls = byId("controls");
for (const text of ROWS.flatMap((row) => row.translations)) {
  text.omissions ??= [];
  text.source_errors ??= [];
  text.unplaced ??= [];
  text.allErrors = text.errors; // of which the slider hides some
  text.allOmissions = text.omissions;
}
const marksOf = (text) => [...text.errors, ...text.omissions, ...text.unplaced];
const worst = (text, row) => Math.max(-1, ...[...marksOf(text), ...(row.translations.length === 1 ? text.source_errors : [])].map(({ severity }) => severity));
const isCompared = ROWS.some((row) => row.difference !== undefined);
const nOf = (row) => row.translations.reduce((sum, text) => sum + marksOf(text).length, 0);
const ranked = (row) => Math.min(...row.translations.map((text) => text.whole?.value ?? text.score ?? 0)); // the expected score, if there is one
const ORDERS = {
  "as in the file": null,
  "worst first": (a, b) => ranked(a) - ranked(b),
  "best first": (a, b) => ranked(b) - ranked(a),
  "most errors first": (a, b) => nOf(b) - nOf(a),
};
if (isCompared) {
  ORDERS["largest difference first"] = (a, b) => Math.abs(b.difference) - Math.abs(a.difference);
  if (DATA.systems.length === 2) { // of more, a difference has no direction
    ORDERS["largest gain first"] = (a, b) => b.difference - a.difference;
    ORDERS["largest loss first"] = (a, b) => a.difference - b.difference;
  }
}
const choices = (id, names, counts, labels = names) => { // boxes to tick, all ticked; hidden where there is nothing to choose
  const group = byId(id);
  group.hidden = names.length < 2;
  names.forEach((name, at) => {
    const box = element("input");
    box.type = "checkbox";
    box.defaultChecked = true;
    box.value = name;
    group.append(element("label", "", box, ` ${visible(labels[at])}${counts ? ` (${counts[at].toLocaleString("en")})` : ""}`));
  });
};
const chosen = (id) => {
  const boxes = [...byId(id).querySelectorAll("input")];
  return boxes.every((box) => box.checked) ? null : new Set(boxes.filter((box) => box.checked).map((box) => box.value));
};

const kindOf = (text, row) => (text.score === null && !text.isReviewed ? "not annotated" : worst(text, row) < 0 ? "no error" : SEVERITIES[worst(text, row)]);
const texts = ROWS.flatMap((row) => row.translations), tally = new Map();
for (const row of ROWS) {
  for (const text of row.translations) tally.set(kindOf(text, row), (tally.get(kindOf(text, row)) ?? 0) + 1);
}
const kinds = [...SEVERITIES.toReversed(), "no error", "not annotated"].filter((kind) => tally.has(kind));
choices("severities", kinds, kinds.map((kind) => tally.get(kind)));
const changes = Object.keys(CHANGES).filter((change) => texts.some((text) => text.errors.some((error) => error.change === change)));
choices("changes", changes, null, changes.map((change) => CHANGES[change]));
choices("systems", DATA.systems);
const confidences = texts.flatMap((text) => [...text.allErrors, ...text.allOmissions]).map(({ confidence }) => confidence).filter((value) => value != null);
const certain = byId("certain"), lowestConfidence = Math.floor(100 * confidences.reduce((least, one) => Math.min(least, one), 1));
certain.parentElement.hidden = new Set(confidences).size < 2;
certain.min = certain.defaultValue = certain.value = lowestConfidence;
const hasSpans = texts.some((text) => text.score !== null);
const hasSystems = ROWS.some((row) => row.translations.length > 1), hasReference = ROWS.some((row) => row.references.length);
byId("differences").append(new Option("nothing", "none"));
if (hasSystems) byId("differences").append(new Option("words that differ between systems", "systems"));
if (hasReference) byId("differences").append(new Option("words that differ from the reference", "reference"));
byId("differences").parentElement.hidden = !hasSystems && !hasReference;
for (const name of Object.keys(ORDERS)) {
  const isFirst = isCompared && name.startsWith("largest difference"); // by default, and now
  byId("sort").append(new Option(name, name, isFirst, isFirst));
}
const REVIEWS = { all: () => true, open: (text) => !text.isReviewed, reviewed: (text) => text.isReviewed, comment: (text) => text.comment };

let shownSystems = null;
const isShown = (system) => !shownSystems || shownSystems.has(DATA.systems[system]);
let belowTranslation = () => null; // what else a translation has, from the editor
const draw = (index, at, count) => {
  const box = drawRow(ROWS[index], DATA.systems, isShown, byId("differences").value, (row, text) => belowTranslation(row, text));
  box.dataset.row = index;
  box.setAttribute("aria-posinset", at + 1);
  box.setAttribute("aria-setsize", count);
  return box;
};
const list = makeList(byId("list"), draw, (index) => {
  const row = ROWS[index], letters = row.translations.reduce((sum, text) => sum + text.hypothesis.length, 0);
  return 60 + 31 * row.translations.length + 26 * (row.references.length + (row.source !== null)) + letters / 4;
});
const haystacks = [];
const haystack = (index) => haystacks[index] ??= [ROWS[index].source ?? "", ...ROWS[index].references, ...ROWS[index].translations.map((text) => text.hypothesis)]
  .join("\n").normalize().toLowerCase();

const apply = () => {
  const needle = byId("search").value.normalize().toLowerCase(), severities = chosen("severities"), wanted = chosen("changes");
  shownSystems = chosen("systems");
  const least = certain.valueAsNumber / 100, isEvery = certain.value === certain.min;
  const isSure = (confidence) => isEvery || confidence == null || confidence >= least;
  for (const text of texts) {
    text.errors = text.allErrors.filter((error) => isSure(error.confidence));
    text.omissions = text.allOmissions.filter((omission) => isSure(omission.confidence));
  }
  byId("least").textContent = `${certain.value} %`;
  const low = byId("low").valueAsNumber, high = byId("high").valueAsNumber; // NaN where nothing is given
  const isWanted = REVIEWS[byId("reviewed")?.value ?? "all"];
  const fits = (text, row) => isShown(text.system) && isWanted(text) && (!severities || severities.has(kindOf(text, row)) || !kinds.includes(kindOf(text, row)))
    && !(scoreOf(text) < low) && !(scoreOf(text) > high) && !(scoreOf(text) === null && (low === low || high === high))
    && (!wanted || text.errors.some((error) => wanted.has(error.change)));
  const order = [];
  ROWS.forEach((row, index) => {
    if (row.translations.some((text) => fits(text, row)) && (!needle || haystack(index).includes(needle))) order.push(index);
  });
  const compare = ORDERS[byId("sort").value];
  if (compare) order.sort((a, b) => compare(ROWS[a], ROWS[b]) || a - b);
  const counted = `${order.length.toLocaleString("en")} of ${ROWS.length.toLocaleString("en")} segment${ROWS.length === 1 ? "" : "s"}`;
  const scored = order.flatMap((index) => ROWS[index].translations).filter((text) => isShown(text.system) && (!hasSpans || text.score !== null) && scoreOf(text) !== null);
  const means = DATA.systems.map((system, at) => { // one for each system: a mean over several says nothing
    const own = scored.filter((text) => text.system === at), sum = own.reduce((total, text) => total + scoreOf(text), 0);
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
    const from = focused.removedAt ?? 0; // where a mark has just been removed
    const next = marks[inside < 0 ? (by > 0 ? from : from - 1) : inside + by];
    if (next) { next.focus(); return; }
    at += by;
  }
  while (at >= 0 && at < rows.length) {
    const marks = ROWS[rows[at]].translations.some((text) => isShown(text.system) && text.errors.length + text.omissions.length + text.source_errors.length) ? list.reveal(at).querySelectorAll("mark") : [];
    if (marks.length) {
      marks[by > 0 ? 0 : marks.length - 1].focus({ preventScroll: true });
      return;
    }
    at += by;
  }
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
  const act = { "/": () => byId("search").focus(), j: () => step(1), k: () => step(-1), n: () => stepError(1), p: () => stepError(-1) }[event.key];
  if (act) { event.preventDefault(); act(); }
});
