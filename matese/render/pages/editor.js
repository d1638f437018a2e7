// Corrections: a mark is changed where it is, chosen words become a mark, and each translation is confirmed.
const editor = byId("editor"), bar = byId("reviewing"), reviewer = byId("reviewer"), comments = byId("list");
let isEditing = false;
let words = null; // the words that are chosen to become a mark: { box, start, end }

const plural = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
const tell = (text) => { byId("told").textContent = text; };
const button = (label, act, kind = "") => {
  const node = element("button", kind, label);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
};

// --- Changes ---------------------------------------------------------------------------------------------------------

const showProgress = () => {
  const nReviewed = UNITS.filter((text) => text.isReviewed).length;
  const nUndecided = UNITS.reduce((sum, text) => sum + undecided(text).length, 0);
  byId("progress").textContent = `${nReviewed.toLocaleString("en")} of ${UNITS.length.toLocaleString("en")} reviewed`
    + (nUndecided ? `, ${nUndecided.toLocaleString("en")} undecided, not in the score` : "");
  byId("share").max = UNITS.length;
  byId("share").value = nReviewed;
  byId("undo").disabled = !undone.length;
  byId("storage").hidden = isKept || Boolean(DATA.saves);
  byId("unnamed").hidden = !DATA.saves || Boolean(reviewer.value.trim());
};
// Draws a segment anew; the focus stays at the mark of this place, or in the segment.
const redraw = (text, place = null) => {
  const hadFocus = document.activeElement === document.body || document.activeElement.closest?.(".row, #editor");
  const box = list.refresh(text.rowNumber);
  showProgress();
  if (!box || !hadFocus) return;
  const mark = place && [...box.querySelectorAll("mark")].find((mark) => mark.errors.some(({ error }) => isAt(error, place)));
  (mark ?? box).focus({ preventScroll: true });
};
const isAt = (error, { owner, text, start, end }) =>
  error.owner === owner && (error.text ?? -2) === (text ?? -2) && error.start === start && error.end === end;
const decide = (text, changes, said, place = null) => {
  change(text, changes);
  closeEditor();
  redraw(text, place);
  tell(said);
  saveSoon();
};
const listOf = ({ missing, of, owner }) =>
  (missing ? "omissions" : ["source_errors", "unplaced"].find((name) => owner[name].includes(of)) ?? "errors");
// Returns the changes of a translation that replace a mark; null removes it.
const replaced = (error, mark) => {
  const { owner, of } = error, name = listOf(error), seen = asSeen(owner);
  const at = owner[name].indexOf(of);
  return { [name]: seen[name].flatMap((one, number) => (number !== at ? [one] : mark ? [{ ...one, ...mark }] : [])) };
};
const changeMark = (error, mark) =>
  decide(error.owner, replaced(error, mark), `Changed to ${named({ ...error, ...mark })}.`, error);
const removeMark = (error) => {
  const row = (editor.hidden ? document.activeElement : editor.origin)?.closest?.(".row");
  const at = row ? [...row.querySelectorAll("mark")].findIndex((mark) => mark.errors.some((one) => one.error === error)) : -1;
  decide(error.owner, replaced(error, null), "Mark removed.");
  const drawn = document.activeElement.closest(".row");
  if (drawn && at >= 0) drawn.removedAt = at; // where the keys n and p go on
};
const addMark = (severity, category, owner) => {
  const { box, start, end } = words, { text } = box.owner, name = text === -2 ? "errors" : "omissions";
  const place = text === -2 ? { start, end } : { start, end, text };
  const others = asSeen(owner)[name].filter((one) => !(one.start === start && one.end === end && one.text === place.text));
  const marks = [...others, { ...place, severity, category: category || undefined }];
  const said = `${named({ severity, category })}: ${shownWords()}`;
  decide(owner, { [name]: marks }, said, { owner, ...place });
};
const confirm = (text) => decide(text, {}, "Reviewed: the marks are right.");
const sayNoError = (text) =>
  decide(text, { errors: [], omissions: [], source_errors: [], unplaced: [] }, "Reviewed: no error.");
const correct = (text, words) => {
  const isSame = !words.trim() || words === text.hypothesis;
  text.isTyping = false;
  if ((isSame ? "" : words) === text.corrected) { redraw(text); return; }
  decide(text, { ...withoutStretches(text), corrected: isSame ? "" : words },
    isSame ? "The translation is as it was." : "Translation corrected.");
};
const takeBack = () => {
  const text = undo();
  closeEditor();
  if (!text) { tell("Nothing to undo."); return; }
  const at = list.rows().indexOf(text.rowNumber);
  if (at >= 0) list.reveal(at).focus({ preventScroll: true });
  redraw(text);
  tell("Undone.");
  saveSoon();
};

// --- Below each translation ------------------------------------------------------------------------------------------

const countMarks = (text) => text.errors.length + text.omissions.length + text.source_errors.length + text.unplaced.length;
belowTranslation = (row, text) => {
  if (!isEditing) {
    const remark = element("p", "", visible(text.comment));
    remark.dir = "auto";
    return text.comment ? line("remark", "comment", remark) : null;
  }
  const count = countMarks(text), buttons = element("div", "buttons");
  if (text.isReviewed) {
    const nOpen = undecided(text).length, said = count ? plural(count, "error") : "no error";
    buttons.append(element("span", "done", `\u2713 Reviewed: ${said}${nOpen ? `, ${nOpen} undecided` : ""}`));
    buttons.append(button("Review again", () => decide(text, { isReviewed: false }, "Not reviewed.")));
  } else if (count) {
    buttons.append(button("Marks are right", () => confirm(text), "confirm"));
  }
  if (count || !text.isReviewed) buttons.append(button("No error", () => sayNoError(text)));
  const comment = element("input", "comment");
  comment.value = text.comment;
  comment.placeholder = "Comment";
  comment.setAttribute("aria-label", "Comment");
  comment.dir = "auto";
  comment.autocomplete = "off";
  comment.text = text;
  if (!text.isTyping) buttons.append(button(text.corrected ? "Correct again" : "Correct the translation", () => startCorrecting(text)));
  buttons.append(comment);
  if (text.isTyping) buttons.prepend(...correctionBox(text));
  else buttons.prepend(...undecided(text).map((mark) => severityQuestion(text, mark)));
  return line("review", "review", buttons);
};
// What a reader has changed is an error: how bad, the reader says. Until then it counts in no score.
const GRADES = [["Minor", "minor"], ["Major", "major"], ["Preference", "neutral"]];
const severityQuestion = (text, mark) => {
  const changed = mark.words ?? text.hypothesis.slice(mark.start, mark.end);
  return element("div", "question", element("q", "", visible(changed)), mark.words ? " was missing: " : " was wrong: ",
    ...GRADES.map(([label, name]) => button(label, () => changeMark({ ...mark, of: mark, owner: text }, { severity: SEVERITIES.indexOf(name) }), name)));
};
// A text area has no carriage returns: they come back where the translation has them.
const correctionBox = (text) => {
  const area = element("textarea", "correction");
  area.value = text.corrected || text.hypothesis;
  area.rows = Math.min(8, 1 + Math.floor(area.value.length / 60));
  area.setAttribute("aria-label", "Corrected translation");
  area.dir = "auto";
  area.corrects = text;
  const warning = element("p", "warning"), words = element("span", "");
  const typed = () => (text.hypothesis.includes("\r\n") ? area.value.replace(/\n/g, "\r\n") : area.value);
  const keepIt = button("Keep it so", () => correct(text, typed()));
  const warn = () => {
    const problem = problemOf(text, typed());
    words.textContent = problem;
    warning.hidden = !problem;
    return problem;
  };
  warning.setAttribute("role", "alert");
  warning.append(words, keepIt);
  warn();
  area.addEventListener("input", warn);
  area.addEventListener("change", () => { // what is lost must be confirmed
    if (warn()) tell("The correction is not kept yet: mend it, or confirm it below the text.");
    else correct(text, typed());
  });
  const insert = ([tag, end]) => { // at the caret, or around the chosen words
    const { selectionStart, selectionEnd } = area, chosen = end ? area.value.slice(selectionStart, selectionEnd) : "";
    area.setRangeText(`${tag}${chosen}${end ?? ""}`, selectionStart, selectionEnd, "end");
    area.focus();
    warn();
  };
  const codes = lostCodes(text).map((tags) => button(`Insert ${tags.join("\u2026")}`, () => insert(tags), "code"));
  for (const node of codes) node.addEventListener("pointerdown", (event) => event.preventDefault()); // the text keeps the focus
  return [area, ...codes, warning];
};
const startCorrecting = (text) => {
  text.isTyping = true;
  redraw(text);
  [...document.querySelectorAll(".correction")].find((area) => area.corrects === text)?.focus();
};
const endCorrecting = (area, isKept) => { // without a change there is no event of it
  const text = area.corrects;
  if (!isKept) area.value = text.corrected || text.hypothesis;
  area.blur();
  if (isKept && text.isTyping) area.dispatchEvent(new Event("change")); // a code was inserted, and nothing typed
  if (text.isTyping && !(isKept && problemOf(text, area.value))) { text.isTyping = false; redraw(text); }
};
// A comment is no decision about the marks: the translation still needs one.
comments.addEventListener("focusin", ({ target }) => { if (target.text) target.before = stateOf(target.text); });
comments.addEventListener("input", ({ target }) => {
  if (!target.text) return;
  setState(target.text, { ...stateOf(target.text), comment: target.value });
  keep(target.text);
  saveSoon();
});
comments.addEventListener("change", ({ target }) => {
  if (target.text) undone.push({ text: target.text, before: target.before });
  showProgress();
});

// --- Words -----------------------------------------------------------------------------------------------------------

const segmented = (text, granularity) => (Intl.Segmenter
  ? [...new Intl.Segmenter(undefined, { granularity }).segment(text)].map(({ segment, index }) => [index, index + segment.length])
  : [...text.matchAll(granularity === "word" ? WORDS : /\P{M}\p{M}*/gu)].map(([found], at, all) => [all[at].index, all[at].index + found.length]));
const wordsOf = (text) => segmented(text, "word").filter(([start, end]) => text.slice(start, end).trim());
const wholeText = ({ row, translation, text }) => (text === -2 ? translation.hypothesis : text === -1 ? row.source : row.references[text]);
const shownWords = () => `\u201c${visible(wholeText(words.box.owner).slice(words.start, words.end))}\u201d`;
const textNodes = (box) => {
  const found = [], walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.place) found.push(walker.currentNode);
  return found;
};
// Offsets of a text and of what is shown of it, in which control characters are longer.
const toShown = ({ text }, offset) => visible(text.slice(0, offset)).length;
const fromShown = ({ text }, offset) => {
  let found = 0;
  while (found < text.length && visible(text.slice(0, found + 1)).length <= offset) found += 1;
  return found;
};
const offsetAt = (box, node, offset) => { // in the text of a box, of a place in the document
  const place = document.createRange();
  place.setStart(node, offset);
  let found = 0;
  for (const own of textNodes(box)) {
    if (own === node) return own.place.start + fromShown(own.place, offset);
    if (place.comparePoint(own, 0) < 0) found = own.place.start + own.place.text.length;
  }
  return found;
};
const rangeOf = ({ box, start, end }) => {
  const range = document.createRange();
  for (const node of textNodes(box)) {
    const from = node.place.start, to = from + node.place.text.length;
    if (from <= start && start < to) range.setStart(node, toShown(node.place, start - from));
    if (from < end && end <= to) range.setEnd(node, toShown(node.place, end - from));
  }
  return range;
};
// Without white space at the ends, and never a part of a character: an emoji, or a letter with its marks.
const trimmed = (text, start, end) => {
  const letters = segmented(text, "grapheme").filter(([from, to]) => from < end && to > start);
  while (letters.length && !text.slice(...letters[0]).trim()) letters.shift();
  while (letters.length && !text.slice(...letters.at(-1)).trim()) letters.pop();
  return letters.length ? [letters[0][0], letters.at(-1)[1]] : null;
};
const boxOf = (node) => {
  const box = (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest?.(".row p");
  return box?.owner ? box : null;
};
const choose = (box, start, end) => {
  const place = trimmed(wholeText(box.owner), start, end);
  if (!place || (words && words.box === box && words.start === place[0] && words.end === place[1])) return;
  words = { box, start: place[0], end: place[1] };
  const range = rangeOf(words);
  if (window.Highlight) CSS.highlights.set("chosen", new Highlight(range)); // stays while the focus is in the editor
  openEditor(range, [], box);
  tell(`Chosen: ${shownWords()}`);
};
const select = (box, start, end) => {
  choose(box, start, end);
  if (words) getSelection().setBaseAndExtent(...endsOf(rangeOf(words)));
};
const endsOf = (range) => [range.startContainer, range.startOffset, range.endContainer, range.endOffset];

// A mouse drags over whole words, or with Alt over letters; a finger moves the handles of a selection from letter to letter.
let isPressed = false, isDragged = false, isByLetters = false, isSelecting = 0;
const wholeWords = (text, start, end) => {
  const touched = wordsOf(text).filter(([from, to]) => from < end && to > start);
  return touched.length ? [Math.min(start, touched[0][0]), Math.max(end, touched.at(-1)[1])] : [start, end];
};
const selected = () => { // the box and the place of the selection; null if it is none
  const selection = getSelection();
  if (!isEditing || selection.isCollapsed || !selection.rangeCount || editor.contains(document.activeElement)) return null;
  const range = selection.getRangeAt(0), box = boxOf(range.startContainer) ?? boxOf(range.endContainer);
  if (!box) return null;
  const text = wholeText(box.owner);
  const last = box.contains(range.endContainer) ? offsetAt(box, range.endContainer, range.endOffset) : text.length;
  const first = box.contains(range.startContainer) ? offsetAt(box, range.startContainer, range.startOffset) : 0;
  return [box, ...(isDragged && !isByLetters ? wholeWords(text, first, last) : [first, last])];
};
const readSelection = () => {
  const place = isPressed ? null : selected();
  if (!place) return;
  if (isDragged) select(...place);
  else choose(...place);
  isDragged = false;
};
// While the mouse drags, the selection stays as the browser has it, but is not seen: the words that it touches are.
const showTouched = () => {
  isDragged = !getSelection().isCollapsed;
  const place = selected(), trim = place && trimmed(wholeText(place[0].owner), place[1], place[2]);
  if (!window.Highlight) return;
  comments.classList.toggle("dragged", Boolean(trim));
  if (trim) CSS.highlights.set("chosen", new Highlight(rangeOf({ box: place[0], start: trim[0], end: trim[1] })));
  else CSS.highlights.delete("chosen");
};
document.addEventListener("selectionchange", () => {
  if (isPressed) { showTouched(); return; }
  clearTimeout(isSelecting);
  isSelecting = setTimeout(readSelection, 150);
});
document.addEventListener("pointerdown", (event) => {
  isPressed = event.pointerType === "mouse";
  isDragged = false;
  isByLetters = event.altKey;
  if (!editor.contains(event.target) && !event.target.closest("mark")) closeEditor();
  // Else the browser would drag the selected words, and not select others.
  if (isPressed && isEditing && !event.shiftKey && boxOf(event.target)) getSelection().removeAllRanges();
});
document.addEventListener("pointermove", (event) => { if (isPressed) isByLetters = event.altKey; });
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    isPressed = false;
    comments.classList.remove("dragged");
    if (isDragged) isSelecting = setTimeout(readSelection, 0); // also where the mouse is released outside of the texts
  });
}
// A click on a mark opens it, a click on a word chooses the word.
byId("list").addEventListener("click", (event) => {
  if (!isEditing || event.target.closest("button, input")) return;
  const mark = event.target.closest("mark");
  if (!getSelection().isCollapsed) { readSelection(); return; }
  if (mark) { openMark(mark); return; }
  const box = boxOf(event.target), caret = box && caretAt(event.clientX, event.clientY);
  if (!caret || !box.contains(caret.node)) return;
  const at = offsetAt(box, caret.node, caret.offset), text = wholeText(box.owner);
  const word = wordsOf(text).find(([start, end]) => start <= at && at <= end);
  if (word) select(box, ...word);
});
const caretAt = (x, y) => {
  if (document.caretPositionFromPoint) {
    const caret = document.caretPositionFromPoint(x, y);
    return caret && { node: caret.offsetNode, offset: caret.offset };
  }
  const range = document.caretRangeFromPoint(x, y);
  return range && { node: range.startContainer, offset: range.startOffset };
};
// The keyboard chooses words: the next or previous one, one more or one fewer, or those of another text.
const stepWord = (by, isLonger) => {
  const row = document.activeElement.closest(".row") ?? words?.box.closest(".row");
  const box = words?.box ?? boxOf(document.activeElement) ?? row?.querySelector(".hypothesis p");
  if (!box?.owner) return;
  const all = wordsOf(wholeText(box.owner)), forward = getComputedStyle(box).direction === "rtl" ? -by : by;
  if (!all.length) return;
  let first = words ? all.findIndex(([, end]) => end > words.start) : forward > 0 ? -1 : all.length;
  let last = words ? all.findLastIndex(([start]) => start < words.end) : first;
  if (!words || !isLonger) first = last = Math.max(0, Math.min(all.length - 1, (forward > 0 ? last : first) + forward));
  else if (forward > 0) last = Math.min(all.length - 1, last + 1);
  else if (last > first) last -= 1;
  else first = Math.max(0, first - 1);
  select(box, all[first][0], all[last][1]);
};
const stepText = (by) => {
  const row = document.activeElement.closest(".row") ?? words?.box.closest(".row");
  const boxes = row ? [...row.querySelectorAll("p")].filter((box) => box.owner && wholeText(box.owner).trim()) : [];
  const at = boxes.indexOf(words?.box ?? boxOf(document.activeElement) ?? row?.querySelector(".hypothesis p"));
  const next = boxes[at + by];
  if (next) select(next, ...wordsOf(wholeText(next.owner))[0]);
};

// --- The editor of a mark or of chosen words -------------------------------------------------------------------------

const closeEditor = () => {
  const hadFocus = editor.contains(document.activeElement), { origin } = editor;
  editor.hidden = true;
  words = null;
  CSS.highlights?.delete("chosen");
  if (hadFocus) (origin?.isConnected ? origin : document.body).focus({ preventScroll: true });
};
const openEditor = (anchor, parts, origin) => {
  hide();
  editor.origin = origin;
  editor.replaceChildren(...(parts.length ? parts : [newMark()]), button("\u2715", closeEditor, "close"));
  editor.lastChild.setAttribute("aria-label", "Close");
  editor.hidden = false;
  const place = anchor.getBoundingClientRect(), own = editor.getBoundingClientRect();
  const left = Math.max(8, Math.min(place.left, document.documentElement.clientWidth - own.width - 8));
  const isBelow = place.bottom + own.height + 8 < window.innerHeight - bar.offsetHeight || place.top < own.height + LABEL;
  editor.style.left = `${left + window.scrollX}px`;
  editor.style.top = `${(isBelow ? place.bottom + 6 : place.top - own.height - LABEL) + window.scrollY}px`;
  // On a narrow screen it is at the bottom, and must not cover the words.
  if (getComputedStyle(editor).position === "fixed") window.scrollBy(0, Math.max(0, place.bottom + 12 - editor.getBoundingClientRect().top));
};
const openMark = (mark) => {
  words = null;
  openEditor(mark, mark.errors.map(({ error, text }) => markForm(error, text)), mark);
};
const severityButtons = (current, act) => element("div", "buttons severities", ...SEVERITY_KEYS.map(([key, severity]) => {
  const node = button(element("kbd", "", key), () => act(severity), SEVERITIES[severity]);
  node.append(` ${capital(SEVERITIES[severity])}`);
  if (current !== null) node.setAttribute("aria-pressed", String(severity === current));
  return node;
}));
const categoryInput = (value) => {
  const input = element("input");
  input.value = value ?? "";
  input.setAttribute("list", "categories");
  input.autocomplete = "off";
  return [element("label", "category", "Category ", input), input];
};
const form = (legend, ...parts) => {
  const box = element("fieldset", "", element("legend", "", ...legend), ...parts);
  return box;
};
const markForm = (error, text) => {
  const [label, category] = categoryInput(error.category);
  category.addEventListener("change", () => changeMark(error, { category: category.value.trim() || undefined }));
  const remove = button(error.rule ? "Accept: no error" : "Remove", () => removeMark(error), "remove");
  const legend = [element("q", "", visible(text)), ...(error.missing ? [` ${error.missing.toLowerCase()}`] : [])];
  return form(legend, severityButtons(error.severity, (severity) => changeMark(error, { severity })), label, remove);
};
const newMark = () => {
  const { row, translation, text } = words.box.owner;
  const [label, category] = categoryInput("");
  const owners = translation ? [translation] : row.translations.filter(({ system }) => isShown(system));
  const which = element("select");
  which.append(...owners.map((owner, at) => new Option(visible(DATA.systems[owner.system]), at)));
  const add = (severity) => addMark(severity, category.value.trim(), owners[which.value]);
  words.add = add;
  const legend = [element("q", "", shownWords().slice(1, -1)), text === -2 ? " is an error:" : " is missing in the translation:"];
  return form(legend, ...(owners.length > 1 ? [element("label", "category", "Missing in ", which)] : []), severityButtons(null, add), label);
};
byId("categories").append(...[...new Set([...UNITS.flatMap((text) => [...text.allErrors, ...text.allOmissions, ...text.unplaced])
  .map(({ category }) => category).filter(Boolean), ...byId("categories").dataset.usual.split("|")])].map((name) => new Option(name)));
// The keys of the list do not act on what is typed here, and the focus stays inside until it closes.
editor.addEventListener("keydown", (event) => {
  if (event.key !== "Tab") return;
  const stops = [...editor.querySelectorAll("button, input, select")], at = stops.indexOf(document.activeElement);
  const next = stops[at + (event.shiftKey ? -1 : 1)] ?? stops[event.shiftKey ? stops.length - 1 : 0];
  event.preventDefault();
  next.focus();
});

// --- Keys ------------------------------------------------------------------------------------------------------------

const current = () => { // the translation that keys act on: that of the focus, or the first of the segment to review
  const focused = document.activeElement.closest(".row"), owner = boxOf(document.activeElement)?.owner;
  if (owner?.translation) return owner.translation;
  const row = focused ? ROWS[focused.dataset.row] : null;
  if (!row) return null;
  const own = row.translations.filter(({ system }) => isShown(system));
  return own.find((text) => !text.isReviewed) ?? own[0];
};
const goOn = (text) => { // to the next translation that is not reviewed
  const rows = list.rows(), at = rows.indexOf(text.rowNumber);
  const isOpen = (number) => ROWS[number].translations.some((one) => isShown(one.system) && !one.isReviewed);
  const next = [...rows.slice(at), ...rows.slice(0, Math.max(0, at))].find(isOpen);
  if (next === undefined) { tell("All of these segments are reviewed."); return; }
  list.reveal(rows.indexOf(next)).focus({ preventScroll: true });
};
const withCurrent = (act) => () => {
  const text = current();
  if (text) act(text); else step(1);
};
const focusedError = () => (editor.hidden ? document.activeElement : editor.origin)?.errors?.[0].error;
const withError = (act) => () => { const error = focusedError(); if (error) act(error); };
const severityKey = (severity) => () => {
  if (words) { words.add(severity); return; }
  withError((error) => changeMark(error, { severity }))();
};
const openFocused = (selector) => {
  const mark = document.activeElement.closest("mark");
  if (mark) openMark(mark);
  const field = editor.querySelector(selector);
  field?.focus();
  field?.select?.();
};
const ACTS = {
  ...Object.fromEntries(SEVERITY_KEYS.map(([key, severity]) => [key, severityKey(severity)])),
  Delete: withError(removeMark),
  Backspace: withError(removeMark),
  x: withError(removeMark),
  c: () => openFocused("input"),
  Enter: () => (document.activeElement.closest("mark") ? openFocused("button") : withCurrent((text) => { confirm(text); goOn(text); })()),
  o: withCurrent((text) => { sayNoError(text); goOn(text); }),
  m: withCurrent((text) => [...document.querySelectorAll(".comment")].find((input) => input.text === text)?.focus()),
  e: withCurrent(startCorrecting),
  u: takeBack,
  ArrowRight: (event) => stepWord(1, event.shiftKey),
  ArrowLeft: (event) => stepWord(-1, event.shiftKey),
  ArrowDown: () => stepText(1),
  ArrowUp: () => stepText(-1),
};
document.addEventListener("keydown", (event) => {
  if (!isEditing) return;
  const { target, key } = event, isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName);
  const isDone = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  if (target.corrects && (isDone || event.key === "Escape")) { endCorrecting(target, isDone); return; }
  if (event.key === "Escape") {
    if (isTyping && target.text) target.closest(".row").focus({ preventScroll: true });
    getSelection().removeAllRanges();
    closeEditor();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && key === "s") { event.preventDefault(); save(); return; }
  if (isTyping) {
    if (key === "Enter" && target.text) target.closest(".row").focus({ preventScroll: true });
    return;
  }
  if ((event.ctrlKey || event.metaKey) && key === "z") { event.preventDefault(); takeBack(); return; }
  const isPressing = target.tagName === "BUTTON" && key === "Enter", isInRow = target.closest(".row, #editor") || words;
  if (event.ctrlKey || event.metaKey || event.altKey || isPressing || !ACTS[key] || (key.startsWith("Arrow") && !isInRow)) return;
  event.preventDefault();
  ACTS[key](event);
});

// --- Saving ----------------------------------------------------------------------------------------------------------

const slug = (text) => text.replace(/[^\p{L}\p{N}\p{M}_-]+/gu, "-").replace(/^-+|-+$/g, "") || "ratings";
const leftOut = () => {
  const others = UNITS.filter((text) => !text.isReviewed), nCommented = others.filter((text) => text.comment).length;
  if (!others.length) return "";
  const noted = nCommented ? ` (${plural(nCommented, "comment")} with ${others.length === 1 ? "it" : "them"})` : "";
  return ` ${plural(others.length, "translation")} not reviewed ${others.length === 1 ? "is" : "are"} left out${noted}.`;
};
const overruled = () => (nOverruled ? ` ${plural(nOverruled, "translation")} that you changed had been saved by another page meanwhile, and stays so.` : "");
const save = async () => {
  const name = reviewer.value.trim(), count = UNITS.filter((text) => text.isReviewed).length;
  if (!name) {
    tell("Type your name first: it is saved with your ratings.");
    reviewer.focus();
    return;
  }
  if (DATA.saves) { await send(name); return; }
  if (!count) { tell("Nothing to save yet: no translation is reviewed."); return; }
  const link = element("a");
  link.download = `${slug(document.title)}.${slug(name)}.jsonl`;
  link.href = URL.createObjectURL(new Blob([ratings(name)], { type: "application/jsonl" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  tell(`Saved ${plural(count, "rating")} as ${link.download}.${leftOut()}`);
};
// On the page of `matese serve FILE`, ratings are written to its file soon after each change.
let isWaitingToSave = 0, sending = Promise.resolve();
let { version } = DATA; // of the file, which another page may have changed
const saveSoon = () => {
  clearTimeout(isWaitingToSave);
  if (DATA.saves && reviewer.value.trim()) isWaitingToSave = setTimeout(() => send(reviewer.value.trim()), 500);
};
const send = (name) => {
  clearTimeout(isWaitingToSave);
  sending = sending.then(async () => { // one at a time: the last one counts
    const states = new Map(UNITS.filter((text) => text.isReviewed).map((text) => [text, printed(stateOf(text))])), count = states.size;
    try {
      const headers = { "Content-Type": "application/jsonl", "If-Match": version };
      const answer = await fetch("ratings", { method: "POST", headers, body: ratings(name) });
      const said = await answer.json().catch(() => ({ detail: `the server answers ${answer.status}` }));
      if (!answer.ok) throw new Error(said.detail);
      version = said.version;
      noteSaved(states);
      tell(`Saved ${plural(count, "rating")} in ${DATA.saves}.${leftOut()}${overruled()}`);
    } catch (error) {
      tell(`Not saved: ${error instanceof TypeError ? "the server does not answer" : error.message}. This browser keeps your changes.`);
    }
  });
  return sending;
};

// --- Start -----------------------------------------------------------------------------------------------------------

const setEditing = (isOn) => {
  isEditing = isOn;
  closeEditor();
  document.body.classList.toggle("editing", isOn);
  byId("edit").setAttribute("aria-pressed", String(isOn));
  byId("edit").textContent = isOn ? "Stop correcting" : "Correct the marks";
  for (const node of [bar, byId("how"), byId("reviewed").parentElement]) node.hidden = !isOn;
  showProgress();
  list.redraw();
};
byId("edit").addEventListener("click", () => setEditing(!isEditing));
byId("undo").addEventListener("click", takeBack);
byId("save").addEventListener("click", save);
reviewer.value = DATA.reviewer ?? store(() => localStorage.getItem(NAME)) ?? "";
reviewer.addEventListener("change", () => {
  store(() => localStorage.setItem(NAME, reviewer.value.trim()));
  showProgress();
  saveSoon();
});
window.addEventListener("beforeunload", (event) => { if (!isKept && undone.length) event.preventDefault(); });
byId("edit").hidden = false;
if (DATA.saves || UNITS.some((text) => text.isReviewed || !isKnown(text))) setEditing(true);
else if (UNITS.some(({ comment }) => comment)) list.redraw();
if (nOverruled) tell(overruled());
if (!UNITS.every(isKnown)) saveSoon();
