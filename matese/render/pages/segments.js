// From the data to elements. Texts become text nodes, never markup.
const byId = (id) => document.getElementById(id);
const CHANGES = { fixed: "fixed", introduced: "introduced", softened: "less severe", worsened: "more severe", kept: "unchanged" };
const DETAILS = { fixed: "gone in the other translation", introduced: "not in the first translation" };

const element = (name, kind, ...children) => {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  node.append(...children);
  return node;
};
// Control characters would be invisible, and those of the writing direction would reorder what stands around them.
const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (letter) => {
  const code = letter.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
});
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
const number = (value) => String(Number(value.toFixed(2))).replace("-", "\u2212");

// How a text becomes another, word by word, as `matese.formats.corrections` and Python's difflib have it:
// the longest run of equal parts, then the same before and behind it.
const UNSPACED = "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const PARTS = new RegExp(`</?[\\p{L}\\p{N}_][^<>]*>|[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_])+|\\s+|.`, "gsu");
const edits = (text, other) => {
  const own = text.match(PARTS) ?? [], others = other.match(PARTS) ?? [], places = new Map(), equal = [];
  others.forEach((part, at) => { if (places.has(part)) places.get(part).push(at); else places.set(part, [at]); });
  const find = (from, to, otherFrom, otherTo) => {
    let best = { at: from, other: otherFrom, size: 0 }, runs = new Map();
    for (let at = from; at < to; at++) {
      const longer = new Map();
      for (const place of places.get(own[at]) ?? []) {
        if (place < otherFrom || place >= otherTo) continue;
        const size = (runs.get(place - 1) ?? 0) + 1;
        longer.set(place, size);
        if (size > best.size) best = { at: at - size + 1, other: place - size + 1, size };
      }
      runs = longer;
    }
    if (!best.size) return;
    find(from, best.at, otherFrom, best.other);
    equal.push(best);
    find(best.at + best.size, to, best.other + best.size, otherTo);
  };
  find(0, own.length, 0, others.length);
  const found = [], length = (parts) => parts.join("").length;
  let at = 0, place = 0, start = 0;
  for (const run of [...equal, { at: own.length, other: others.length, size: 0 }]) {
    const end = start + length(own.slice(at, run.at));
    if (at < run.at || place < run.other) found.push({ start, end, words: others.slice(place, run.other).join("") });
    at = run.at + run.size;
    place = run.other + run.size;
    start = end + length(own.slice(run.at, at));
  }
  return found;
};
const differing = (text, other) => edits(text, other).filter(({ start, end }) => start < end).map(({ start, end }) => [start, end]);

// Pieces of a text between all borders of its errors and of what differs; of errors that overlap, the worst gives the look.
// Several systems may lack the same words of a context: these share a label. Each text node knows its place in the text.
const marked = (text, errors, differences = [], heat = [], codes = []) => {
  const box = element("p");
  box.dir = "auto";
  const showCodes = (place) => box.append(...codes.filter(([at]) => at === place).map(([, name, shown]) => element("span", "code", shown || name)));
  if (!text.trim()) {
    box.append(element("span", "empty", text ? "(blank)" : "(empty)"));
    if (!errors.length) return box;
  }
  const spans = [...errors.map(({ start, end }) => [start, end]), ...differences, ...heat];
  const borders = [...new Set([0, text.length, ...spans.flatMap(([start, end]) => [start, end]), ...codes.map(([at]) => at)])].sort((a, b) => a - b);
  borders.slice(0, -1).forEach((start, number) => {
    showCodes(start);
    const end = borders[number + 1], words = document.createTextNode(visible(text.slice(start, end)));
    words.place = { start, text: text.slice(start, end) };
    const isDifferent = differences.some(([from, to]) => from <= start && end <= to);
    const shade = heat.find(([from, to]) => from <= start && end <= to)?.[2];
    const plain = isDifferent ? element("ins", "", words) : words;
    const piece = shade ? element("span", `heat${shade}`, plain) : plain;
    const here = errors.filter((error) => error.start <= start && end <= error.end);
    if (!here.length) { box.append(piece); return; }
    const worst = here.reduce((found, error) => (error.severity > found.severity ? error : found));
    const mark = element("mark", `${SEVERITIES[worst.severity]}${worst.missing ? " missing" : ""}`, piece);
    mark.tabIndex = 0;
    mark.setAttribute("role", "button");
    mark.errors = here.map((error) => ({ error, text: text.slice(error.start, error.end) }));
    mark.setAttribute("aria-label", `${visible(mark.errors[0].text)}: ${here.map(describe).join("; ")}`);
    box.append(mark);
    const ending = here.filter((error) => error.end === end && (!error.missing || error === worst));
    if (!ending.length) return;
    const last = ending.reduce((found, error) => (error.severity > found.severity ? error : found)); // the others have no room
    const missing = last.missing ? " missing" : "", nMore = last.where ? 0 : ending.length - 1; // systems share a label
    const change = !missing && last.change && last.change !== "kept" ? element("span", "change", `, ${CHANGES[last.change]}`) : "";
    const label = element("sup", SEVERITIES[last.severity], element("span", "label", capital(SEVERITIES[last.severity]) + missing, change, nMore ? ` +${nMore}` : ""));
    label.setAttribute("aria-hidden", "true");
    box.append(label);
  });
  showCodes(text.length);
  return box;
};
// A label ends where its error ends, unless it would begin or end outside of the page.
const keepLabelsInside = (box) => {
  const width = document.documentElement.clientWidth;
  for (const label of box.querySelectorAll(".label")) {
    label.style.translate = "none";
    const { left, right } = label.getBoundingClientRect();
    label.style.translate = `${left < 0 ? -left : Math.min(0, width - right)}px`;
  }
};
const named = ({ severity, category }) => `${capital(SEVERITIES[severity])}${category ? ` ${visible(category)}` : ""}`;
const withWords = (error) => `${error.words ? `${visible(error.words)}: ` : ""}${named(error)}${error.rule ? ` (rule ${visible(error.rule)})` : ""}${error.reason ? `: ${visible(error.reason)}` : ""}`;
const describe = ({ severity, category, confidence, change, missing, where, votes, rule, reason, correction }) => [
  missing ?? where ?? "",
  named({ severity, category }),
  rule ? `found by the rule ${visible(rule)}` : "",
  correction == null ? "" : correction ? `better: ${visible(correction)}` : "better: without it",
  reason ? visible(reason) : "",
  confidence == null ? "" : `confidence ${Math.round(100 * confidence)} %`,
  votes ? `marked by ${Math.round(100 * votes.share)} % of the predictions` : "",
  votes?.other_severity ? `another severity in ${Math.round(100 * votes.other_severity)} % of these` : "",
  change ? `${CHANGES[change]}${DETAILS[change] ? `: ${DETAILS[change]}` : ""}` : "",
].filter(Boolean).join(", ");

const short = (text) => (text.length > 30 ? `${text.slice(0, 29)}\u2026` : text);
const scoreOf = (text) => text.score ?? text.whole?.value ?? null; // a text without spans has its overall score

const line = (kind, label, content, note) => {
  const name = element("span", "kind", label);
  name.append(...(note ?? []).map((part) => element("small", "", part)));
  return element("div", `line ${kind}`, name, content);
};
// Of the words that shown translations lack, those of one text: -1 is the source, others are numbers of references.
const missing = (row, systems, shown, context) => row.translations.filter((text) => shown(text.system)).flatMap((text) => (text.omissions ?? [])
  .filter((omission) => omission.text === context)
  .map((omission) => ({ ...omission, of: omission, owner: text,
    missing: `Missing in ${row.translations.length > 1 ? visible(systems[text.system]) : "the translation"}` })));
// Shaded tokens of an explained text: -2 is the translation, -1 the source, others are numbers of references.
const heated = (text, which) => (text.heat ?? []).find(([of]) => of === which)?.[1] ?? [];
const compared = { // what the words of a translation are compared with
  none: () => null,
  systems: (row, text) => row.translations.find((other) => other !== text)?.hypothesis,
  reference: (row) => row.references[0],
};
// `after` may return an element to show below a translation.
const drawRow = (row, systems, shown, comparison = "none", after = () => null) => {
  const head = element("header", "", element("b", "", visible(row.place)));
  const box = element("article", "row", head);
  box.tabIndex = -1;
  const isOne = row.translations.length === 1, [first] = row.translations;
  const context = (label, text, number, errors) => {
    const codes = number === -1 ? first.codes?.source : [];
    const content = marked(text, [...errors, ...missing(row, systems, shown, number)], [], heated(first, number), codes);
    content.owner = { row, translation: null, text: number };
    box.append(line("context", label, content));
  };
  if (row.difference !== undefined) head.append(`difference ${row.difference > 0 ? "+" : ""}${number(row.difference)}`);
  if (row.source !== null) {
    context("source", row.source, -1, row.translations.filter((text) => shown(text.system)).flatMap((text) => (text.source_errors ?? [])
      .map((error) => ({ ...error, of: error, owner: text, where: isOne ? undefined : `In the source, by the ratings of ${visible(systems[text.system])}` }))));
  }
  const guidance = first.extra?.context;
  if (guidance) {
    const words = element("p", "", visible(String(guidance)));
    words.dir = "auto";
    box.append(line("context", "context", words));
  }
  for (const text of row.translations.filter((text) => shown(text.system))) {
    const figures = text.score === null ? [] : [`score ${text.isReviewed ? "before review " : ""}${number(text.score)}`];
    if (text.whole) {
      const { scale, value, low, high } = text.whole;
      const interval = high === undefined ? "" : ` [${number(low)}, ${number(high)}]`;
      figures.push(`${["mqm", "comet"].includes(scale) ? "expected score" : scale} ${number(value)}${interval}`);
    }
    const other = compared[comparison](row, text);
    const content = marked(text.hypothesis, text.errors.map((error) => ({ ...error, of: error, owner: text })),
      other == null ? [] : differing(text.hypothesis, other), heated(text, -2), text.codes?.hypothesis);
    content.owner = { row, translation: text, text: -2 };
    const system = visible(systems[text.system]);
    if (isOne) head.append(...[system, ...figures].filter(Boolean).map((figure) => element("span", "", figure)));
    box.append(line("hypothesis", isOne ? "hypothesis" : system, content, isOne ? [] : figures));
    const categories = text.errors.filter((error) => error.category).map(({ start, end, category }) => `${short(text.hypothesis.slice(start, end))}: ${category}`);
    if (text.corrected) box.append(line("corrected", "corrected", marked(text.corrected, [], differing(text.corrected, text.hypothesis))));
    if (text.correction) box.append(line("corrected", "better", marked(text.correction, [], differing(text.correction, text.hypothesis))));
    if (categories.length) box.append(line("categories", "categories", element("p", "", visible(categories.join("; ")))));
    if (text.unplaced?.length) box.append(line("unplaced", "no place", element("p", "", text.unplaced.map(withWords).join(", "))));
    if (!isOne) box.append(...[after(row, text)].filter(Boolean));
  }
  row.references.forEach((reference, order) => {
    context(row.references.length > 1 ? `reference ${order + 1}` : "reference", reference, order, []);
  });
  if (isOne) box.append(...[after(row, first)].filter(Boolean));
  return box;
};
