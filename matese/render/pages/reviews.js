// What a reader decides about translations: the marks as they should be, a corrected translation, a comment, and whether
// the translation is reviewed. The browser keeps it while the page is closed; reviewed translations are saved as ratings in JSONL.
const UNITS = ROWS.flatMap((row, at) => row.translations.map((text, number) => Object.assign(text, {
  row, rowNumber: at, id: `${at}.${number}`, comment: String(text.extra?.comment ?? ""), corrected: String(text.extra?.corrected ?? ""), isReviewed: false,
})));
const STORE = `matese:${DATA.id}:`, NAME = "matese:reviewer";

const stateOf = ({ allErrors, allOmissions, source_errors, unplaced, comment, corrected, isReviewed }) =>
  ({ errors: allErrors, omissions: allOmissions, source_errors, unplaced, comment, corrected, isReviewed });
const setState = (text, { errors, omissions, ...others }) =>
  Object.assign(text, { ...others, errors, allErrors: errors, omissions, allOmissions: omissions });
// What a reader sees and decides about: the slider may hide marks. A person's marks have no confidence.
const asSeen = ({ errors, omissions, source_errors, unplaced }) => {
  const ofPerson = ({ start, end, severity, category, text }) => ({ start, end, severity, category, text });
  return { errors: errors.map(ofPerson), omissions: omissions.map(ofPerson), source_errors: source_errors.map(ofPerson), unplaced };
};

// A state as a text to compare, whatever the order of its marks and of their keys.
const LISTS = ["errors", "omissions", "source_errors", "unplaced"], KEYS = ["text", "start", "end", "severity", "category", "words"];
const printed = (state) => JSON.stringify([state.comment, state.corrected, state.isReviewed,
  ...LISTS.map((name) => state[name].map((mark) => JSON.stringify(mark, KEYS)).sort())]);

let isKept = true; // whether the browser keeps what is decided: it may forbid that, or have no room
const store = (act) => { try { return act(); } catch { isKept = false; return null; } };
const GIVEN = new Map(UNITS.map((text) => [text.id, printed(stateOf(text))])); // as the page was made
const known = new Map(GIVEN); // or as its server has saved them: the browser keeps what differs
const isKnown = (text) => printed(stateOf(text)) === known.get(text.id);
const keep = (text) => store(() => {
  const base = known.get(text.id), state = { ...stateOf(text), base: base === GIVEN.get(text.id) ? undefined : base };
  if (isKnown(text)) localStorage.removeItem(STORE + text.id); else localStorage.setItem(STORE + text.id, JSON.stringify(state));
});
let nOverruled = 0; // unsaved decisions about translations that have been saved otherwise since
for (const text of UNITS) {
  const saved = DATA.reviews?.[text.id];
  if (saved) {
    setState(text, saved);
    known.set(text.id, printed(saved));
  }
  const kept = store(() => JSON.parse(localStorage.getItem(STORE + text.id)));
  if (!kept) continue;
  const { base = GIVEN.get(text.id), ...state } = kept;
  if (base === known.get(text.id)) setState(text, state);
  else if (printed(state) !== known.get(text.id)) nOverruled += 1;
}
// Called with the states that the server has saved, by translation.
const noteSaved = (states) => {
  for (const text of UNITS) {
    known.set(text.id, states.get(text) ?? GIVEN.get(text.id));
    keep(text);
  }
};

const undone = []; // states before each change, the last one last
const change = (text, changes) => {
  undone.push({ text, before: stateOf(text) });
  setState(text, withStretches(text, { ...stateOf(text), ...asSeen(text), isReviewed: true, ...changes }));
  keep(text);
};
const undo = () => { // returns the translation that it changed
  const last = undone.pop();
  if (!last) return null;
  setState(last.text, last.before);
  keep(last.text);
  return last.text;
};

// What a reader changes in a translation is an error: a stretch that no mark accounts for becomes a mark of undecided
// severity, as `matese.formats.corrections` has it.
const undecided = (text) => (text.isReviewed ? [...text.allErrors, ...text.unplaced].filter(({ severity }) => !severity) : []);
const touches = ({ start, end }, mark) =>
  (start === end ? mark.start < start && start < mark.end : start < mark.end && mark.start < end);
const withStretches = (text, state) => {
  if (!state.corrected) return state;
  let left = edits(text.hypothesis, state.corrected).filter((edit) => !state.errors.some((mark) => touches(edit, mark)));
  for (const missing of [...state.unplaced, ...state.omissions]) { // an added word mends one of these
    const fits = ({ words }) => (words.trim() || !missing.words) && !missing.rule;
    const edit = left.find(({ words }) => missing.words && words.includes(missing.words)) ?? left.find(fits);
    left = left.filter((one) => one !== edit);
  }
  const added = left.filter(({ start, end }) => start === end).map(({ words }) => ({ severity: 0, words: words.trim() || undefined }));
  const replaced = left.filter(({ start, end }) => start < end).map(({ start, end }) => ({ start, end, severity: 0 }));
  return { ...state, errors: [...state.errors, ...replaced], unplaced: [...state.unplaced, ...added] };
};
const withoutStretches = (text) => { // of the last correction, as far as they are undecided
  const stretches = text.corrected ? edits(text.hypothesis, text.corrected) : [], { errors, unplaced } = asSeen(text);
  const isOne = (mark) => !mark.severity && stretches.some(({ start, end, words }) =>
    (mark.start === undefined ? mark.words === (words.trim() || undefined) : mark.start === start && mark.end === end));
  return { errors: errors.filter((mark) => !isOne(mark)), unplaced: unplaced.filter((mark) => !isOne(mark)) };
};

// Placeholders and tags that a corrected translation lacks, or that its source has not.
const CODES = /(?<![\d%])%(?:\(\w+\))?[-+#0]*\d*(?:\.\d+)?(?:\$[-+#0]*\d*)?(?:hh?|ll?|[jztL])?[diouxXeEfFgGaAcrspn@]|\{\{[^{}]*\}\}|[$%]?\{[^{}]*\}|\$t\([^()]*\)|<\/?[a-zA-Z][^<>]*>/g;
const ICU = /\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,/, ARGUMENTS = /\{\s*[\w.-]+\s*(?=,|\})/g;
const codesOf = (text, isIcu) => (isIcu ? [...new Set(text.match(ARGUMENTS))] : text.match(CODES) ?? []);
const without = (codes, others) => {
  const rest = [...others];
  return codes.filter((code) => !(rest.includes(code) && rest.splice(rest.indexOf(code), 1)));
};
const namesOf = (codes) => (codes ?? []).map(([, name]) => name);
// Inline codes of the source that the translation lacks, each with its tags: those around words have two.
const lostCodes = (text) => {
  const names = without(namesOf(text.codes?.source), namesOf(text.codes?.hypothesis)), isEnd = (name) => name.startsWith("</");
  return names.filter((name) => !isEnd(name)).map((name) => [name, `</${name.slice(1)}`].filter((tag) => !isEnd(tag) || names.includes(tag)));
};
const problemOf = (text, corrected) => {
  const model = text.row.source ?? text.hypothesis, isIcu = ICU.test(model);
  const needed = codesOf(model, isIcu), typed = codesOf(corrected, isIcu);
  const placeable = lostCodes(text).flat();
  const lost = [...without(without(needed, typed), text.mayLack ?? []), ...placeable.filter((name) => !corrected.includes(name))];
  const invented = without(typed, [...needed, ...placeable]);
  return [...lost.map((code) => `${visible(code)} is lost. `), ...invented.map((code) => `${visible(code)} is not in the source. `)].join("");
};

const OWN_COLUMNS = ["comment", "corrected"]; // what a reader types; a column of the input is replaced
// Ratings as `matese.formats.tables.jsonl` reads them: offsets count code points, and JavaScript counts UTF-16 units.
const lineOf = (text, rater) => {
  const { row, key = {} } = text;
  const codePoints = (words, units) => [...words.slice(0, units)].length;
  const named = ({ severity, category }) => ({ severity: severity ? SEVERITIES[severity] : null, category: category ?? null });
  const placed = (error, words, name) => ({
    start: codePoints(words, error.start), end: codePoints(words, error.end), [name]: words.slice(error.start, error.end),
    ...named(error), confidence: null,
  });
  const line = {
    index: key.index ?? null,
    system: key.system ?? (DATA.systems.length > 1 ? DATA.systems[text.system] : null),
    hypothesis: text.hypothesis,
    source: row.source,
    references: row.references,
    score: null,
    expected_score: null,
    errors: text.allErrors.map((error) => placed(error, text.hypothesis, "text")),
    source_errors: text.source_errors.map((error) => placed(error, row.source, "text")),
    omissions: text.allOmissions.map((omission) => ({
      text: omission.text < 0 ? "source" : "reference", reference: omission.text < 0 ? null : omission.text,
      ...placed(omission, omission.text < 0 ? row.source : row.references[omission.text], "words"),
    })),
    unplaced: text.unplaced.map(({ words, rule, ...error }) => ({
      ...named(error), ...(words ? { words } : {}), ...(rule ? { rule } : {}),
    })),
    overall: null,
    estimate: null,
    rater,
    test_set: key.test_set ?? null,
    lang_pair: key.lang_pair ?? null,
    document: key.document ?? null,
    ...(text.called ? { segment_name: text.called } : {}),
  };
  for (const [name, value] of Object.entries(text.extra ?? {})) {
    if (!OWN_COLUMNS.includes(name)) line[name in line || name === "tokens" ? `input_${name}` : name] = value;
  }
  return line;
};
const ratings = (rater) => {
  const reviewed = UNITS.filter((text) => text.isReviewed);
  const columns = OWN_COLUMNS.filter((name) => UNITS.some((text) => text[name] || name in (text.extra ?? {}))); // for all, or none
  return reviewed.map((text) => {
    const typed = columns.map((name) => [name, text[name] || null]);
    return `${JSON.stringify({ ...lineOf(text, rater), ...Object.fromEntries(typed) })}\n`;
  }).join("");
};
