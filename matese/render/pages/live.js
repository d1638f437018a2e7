// Marks errors while one types: once one pauses the server is asked, one question at a time, and the answer is drawn.
const PAUSE = 300; // milliseconds
const BOXES = { hypothesis: "translation", reference: "reference", source: "source" };
const linesOf = (id) => { // as in a text file: a line feed at the end ends the last line
  const text = byId(id).value;
  return text ? text.replace(/\n$/, "").split("\n") : [];
};
const counted = (count, name) => `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
const question = () => {
  const lines = Object.fromEntries(Object.keys(BOXES).map((id) => [id, linesOf(id)])), count = lines.hypothesis.length;
  for (const [id, own] of Object.entries(lines)) {
    if (own.length && own.length !== count) {
      throw new Error(`${counted(count, "translation")} and ${counted(own.length, BOXES[id])}: line i of each must be one segment`);
    }
  }
  if (count && !lines.reference.length && !lines.source.length) throw new Error("a reference or a source must be given, too");
  return lines.hypothesis.map((hypothesis, at) => ({
    hypothesis, source: lines.source[at] ?? null, references: lines.reference.length ? [lines.reference[at]] : [],
  }));
};

const toRow = (rating) => { // as page_data.py has it: offsets in UTF-16 units instead of code points, numbers of severities
  const named = (error) => ({ ...error, severity: SEVERITIES.indexOf(error.severity ?? "undecided") });
  const spans = (text, found) => {
    const units = [0];
    for (const letter of text) units.push(units.at(-1) + letter.length);
    return (found ?? []).map((error) => ({ ...named(error), start: units[error.start], end: units[error.end] }));
  };
  const contexts = [[-1, rating.source], ...rating.references.entries()];
  const omissions = contexts.flatMap(([number, context]) =>
    spans(context ?? "", rating.omissions.filter(({ reference }) => (reference ?? -1) === number)).map((span) => ({ ...span, text: number })));
  const whole = rating.estimate ? { scale: rating.estimate.scale, value: rating.estimate.value } : undefined;
  const unplaced = rating.unplaced.map(named);
  const text = { system: 0, hypothesis: rating.hypothesis, errors: spans(rating.hypothesis, rating.errors), omissions, unplaced, score: rating.score, whole, isEstimated: Boolean(whole) };
  return { place: `line ${rating.index + 1}`, source: rating.source, references: rating.references, translations: [text] };
};
let warning = ""; // of the last answer: languages that the model was not trained on
const ask = async (segments) => (segments.length ? send("application/json", JSON.stringify({ segments })) : []);
const send = async (type, body) => {
  const options = { method: "POST", headers: { "Content-Type": type }, body };
  const answer = await fetch("annotate", options).catch(() => { throw new Error("the server does not answer: it may have been stopped"); });
  const said = await answer.json().catch(() => { throw new Error(`the server answers ${answer.status}`); });
  if (!answer.ok) throw new Error(said.detail);
  warning = said.warning ?? "";
  return said.ratings;
};
const inWords = (rating) => { // as readable_sheet.py writes errors
  const title = ({ severity, category }) => [capital(severity ?? "undecided"), category].filter(Boolean).join(" ");
  const inText = ({ text, reference }) => (text === "source" ? "source" : `reference ${reference + 1}`);
  const written = [
    ...(rating.errors ?? []).map((error) => `${title(error)}: »${error.text}«`),
    ...rating.source_errors.map((error) => `${title(error)} in source: »${error.text}«`),
    ...rating.omissions.map((error) => `${title(error)} missing from ${inText(error)}: »${error.words}«`),
    ...rating.unplaced.map((error) => `${title(error)} without a place`),
  ];
  return written.join("\n") || (rating.errors ? "no errors" : "");
};
const toCsv = (ratings) => { // for people: their program opens it as UTF-8 because of the mark at its beginning
  const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const rows = ratings.map((rating) => [rating.source, rating.hypothesis, rating.references[0], inWords(rating), rating.score, rating.expected_score]);
  const header = ["source", "hypothesis", "reference", "marked errors", "MQM score", "expected score"];
  return `\ufeff${[header, ...rows].map((row) => `${row.map(quoted).join(",")}\r\n`).join("")}`;
};
const offer = (id, text, type) => {
  URL.revokeObjectURL(byId(id).href);
  byId(id).href = URL.createObjectURL(new Blob([text], { type }));
};
const draw = (ratings) => {
  hide();
  offer("jsonl", ratings.map((rating) => `${JSON.stringify(rating)}\n`).join(""), "application/jsonl");
  offer("csv", toCsv(ratings), "text/csv");
  byId("saving").hidden = !ratings.length;
  const rows = ratings.map(toRow), texts = rows.flatMap((row) => row.translations), hasSpans = texts.every((text) => text.score !== null);
  byId("list").replaceChildren(...rows.map((row) => drawRow(row, [""], () => true)));
  keepLabelsInside(byId("list"));
  const nErrors = texts.reduce((sum, text) => sum + text.errors.length + text.omissions.length, 0);
  const mean = texts.reduce((sum, text) => sum + scoreOf(text), 0) / texts.length;
  const figures = [counted(texts.length, "segment"), ...(hasSpans ? [counted(nErrors, "error")] : []),
    `mean ${hasSpans ? "" : "overall "}score ${number(mean)}`];
  byId("status").textContent = texts.length ? figures.join(", ") : "";
};

let isAsking = false, isChanged = false, isWaiting = 0, table = null;
const mark = async () => {
  isChanged = true;
  if (isAsking) return; // asked again when the answer has come
  isAsking = true;
  while (isChanged) {
    isChanged = false;
    let told = "";
    warning = "";
    byId("list").setAttribute("aria-busy", "true");
    try { draw(await (table ? send("text/csv", table) : ask(question()))); } catch (error) { told = error.message; }
    byId("problem").textContent = visible(told || warning);
    byId("problem").hidden = !(told || warning);
    byId("list").classList.toggle("old", Boolean(told)); // what is drawn is of what was typed before
  }
  byId("list").setAttribute("aria-busy", "false");
  isAsking = false;
};
byId("texts").addEventListener("input", () => { table = null; clearTimeout(isWaiting); isWaiting = setTimeout(mark, PAUSE); });
const EXAMPLE = {
  source: "The museum will stay closed on Mondays.\nLast year the company sold 14,500 electric bicycles.",
  hypothesis: "Das Museum bleibt montags geöffnet.\nIm vergangenen Jahr verkaufte das Unternehmen 1.450 Elektrofahrräder.",
  reference: "Das Museum bleibt montags geschlossen.\nIm vergangenen Jahr verkaufte das Unternehmen 14.500 Elektrofahrräder.",
};
byId("example").addEventListener("click", () => {
  table = null;
  for (const [id, text] of Object.entries(EXAMPLE)) byId(id).value = text;
  mark();
});
byId("table").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (!file) return;
  table = file;
  byId("texts").reset();
  mark();
  event.target.value = ""; // the same file may be opened again
});
mark(); // a browser that reloads keeps what was typed
