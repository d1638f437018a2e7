// From the data to elements. Texts become text nodes, never markup.
const byId = (id) => document.getElementById(id);
const SEVERITIES = ["undecided", "neutral", "minor", "major", "critical"];
const CHANGES = { fixed: "gone in the other", introduced: "not in the first", softened: "less severe", worsened: "more severe", kept: "as before" };

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

// The places of the words of a text that another text lacks, by their longest common subsequence.
const WORDS = /[\p{L}\p{N}\p{M}]+|[^\s]/gu, MOST_WORDS = 400;
const differing = (text, other) => {
  const own = [...text.matchAll(WORDS)].slice(0, MOST_WORDS), others = [...other.matchAll(WORDS)].slice(0, MOST_WORDS);
  const best = Array.from({ length: own.length + 1 }, () => new Uint16Array(others.length + 1));
  for (let i = own.length - 1; i >= 0; i--) {
    for (let k = others.length - 1; k >= 0; k--) {
      best[i][k] = own[i][0] === others[k][0] ? best[i + 1][k + 1] + 1 : Math.max(best[i + 1][k], best[i][k + 1]);
    }
  }
  const places = [];
  for (let i = 0, k = 0; i < own.length;) {
    if (k < others.length && own[i][0] === others[k][0]) { i++; k++; continue; }
    if (k < others.length && best[i][k + 1] >= best[i + 1][k]) { k++; continue; }
    places.push([own[i].index, own[i].index + own[i][0].length]);
    i++;
  }
  return places;
};

// Pieces of a text between all borders of its errors and of what differs; of errors that overlap, the worst gives the look.
// Several systems may lack the same words of a context: these share a label.
const marked = (text, errors, differences = [], heat = []) => {
  const box = element("p");
  box.dir = "auto";
  if (!text.trim()) {
    box.append(element("span", "empty", text ? "(blank)" : "(empty)"));
    if (!errors.length) return box;
  }
  const borders = [...new Set([0, text.length, ...errors.flatMap((error) => error.slice(0, 2)), ...differences.flat(), ...heat.flatMap((token) => token.slice(0, 2))])].sort((a, b) => a - b);
  borders.slice(0, -1).forEach((start, number) => {
    const end = borders[number + 1], shown = visible(text.slice(start, end));
    const isDifferent = differences.some(([from, to]) => from <= start && end <= to);
    const shade = heat.find(([from, to]) => from <= start && end <= to)?.[2];
    const plain = isDifferent ? element("ins", "", shown) : shown;
    const piece = shade ? element("span", `heat${shade}`, plain) : plain;
    const here = errors.map((error, at) => at).filter((at) => errors[at][0] <= start && end <= errors[at][1]);
    if (!here.length) { box.append(piece); return; }
    const worst = here.reduce((found, at) => (errors[at][2] > errors[found][2] ? at : found));
    const mark = element("mark", `${SEVERITIES[errors[worst][2]]}${errors[worst][6] ? " missing" : ""}`, piece);
    mark.tabIndex = 0;
    mark.errors = here.map((at) => ({ error: errors[at], text: text.slice(errors[at][0], errors[at][1]) }));
    mark.setAttribute("aria-label", `${visible(mark.errors[0].text)}: ${mark.errors.map(({ error }) => describe(error)).join("; ")}`);
    box.append(mark);
    for (const at of here.filter((at) => errors[at][1] === end && (!errors[at][6] || at === worst))) {
      const change = errors[at][6] ? " missing" : errors[at][5] && errors[at][5] !== "kept" ? ` ${errors[at][5]}` : "";
      const label = element("sup", SEVERITIES[errors[at][2]], element("span", "", capital(SEVERITIES[errors[at][2]]) + change));
      label.setAttribute("aria-hidden", "true");
      box.append(label);
    }
  });
  return box;
};
const describe = ([, , severity, category, confidence, change, missing, votes]) => [
  missing ?? "",
  `${capital(SEVERITIES[severity])}${category ? ` ${visible(category)}` : ""}`,
  confidence == null ? "" : `confidence ${Math.round(100 * confidence)} %`,
  votes ? `marked by ${Math.round(100 * votes[0])} % of the predictions` : "",
  votes?.[1] ? `another severity in ${Math.round(100 * votes[1])} % of these` : "",
  change ? `${change}: ${CHANGES[change]}` : "",
].filter(Boolean).join(", ");

const short = (text) => (text.length > 30 ? `${text.slice(0, 29)}\u2026` : text);
const scoreOf = (text) => text.m ?? text.o?.[1] ?? null; // a text without spans has its overall score

const line = (kind, label, content, note) => {
  const name = element("span", "kind", label);
  name.append(...(note ?? []).map((part) => element("small", "", part)));
  return element("div", `line ${kind}`, name, content);
};
// Of the words that shown translations lack, those of one text: -1 is the source, others are numbers of references.
const missing = (row, systems, shown, context) => row.t.filter((text) => shown(text.n)).flatMap((text) => (text.x ?? [])
  .filter(([of]) => of === context)
  .map(([, start, end, severity, category, confidence]) => [start, end, severity, category, confidence, undefined,
    `Missing in ${row.t.length > 1 ? visible(systems[text.n]) : "the translation"}`]));
// Shaded tokens of an explained text: -2 is the translation, -1 the source, others are numbers of references.
const heated = (text, which) => (text.w ?? []).find(([of]) => of === which)?.[1] ?? [];
const compared = { // what the words of a translation are compared with
  none: () => null,
  systems: (row, text) => row.t.find((other) => other !== text)?.h,
  reference: (row) => row.r[0],
};
const drawRow = (row, systems, shown, comparison = "none") => {
  const head = element("header", "", element("b", "", visible(row.p)));
  const box = element("article", "row", head);
  box.tabIndex = -1;
  const isOne = row.t.length === 1;
  if (row.d !== undefined) head.append(`difference ${row.d > 0 ? "+" : ""}${number(row.d)}`);
  if (row.s !== null) box.append(line("context", "source", marked(row.s, [...row.q, ...missing(row, systems, shown, -1)], [], heated(row.t[0], -1))));
  for (const text of row.t.filter((text) => shown(text.n))) {
    const figures = text.m === null ? [] : [`score ${number(text.m)}`];
    if (text.o) {
      const interval = text.o.length > 3 ? ` [${number(text.o[2])}, ${number(text.o[3])}]` : "";
      figures.push(`${["mqm", "comet"].includes(text.o[0]) ? "expected score" : text.o[0]} ${number(text.o[1])}${interval}`);
    }
    const other = compared[comparison](row, text);
    const content = marked(text.h, text.e, other == null ? [] : differing(text.h, other), heated(text, -2));
    const system = visible(systems[text.n]);
    if (isOne) head.append(...[system, ...figures].filter(Boolean).map((figure) => element("span", "", figure)));
    box.append(line("hypothesis", isOne ? "translation" : system, content, isOne ? [] : figures));
    const categories = text.e.filter((error) => error[3]).map(([start, end, , category]) => `${short(text.h.slice(start, end))}: ${category}`);
    if (categories.length) box.append(line("categories", "categories", element("p", "", visible(categories.join("; ")))));
    if (text.u.length) {
      const names = text.u.map(([severity, category]) => `${capital(SEVERITIES[severity])}${category ? ` ${category}` : ""}`);
      box.append(line("unplaced", "no place", element("p", "", visible(names.join(", ")))));
    }
  }
  row.r.forEach((reference, order) => {
    box.append(line("context", row.r.length > 1 ? `reference ${order + 1}` : "reference", marked(reference, missing(row, systems, shown, order), [], heated(row.t[0], order))));
  });
  return box;
};
