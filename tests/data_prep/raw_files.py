"""Raw files of every source, in little: what the readers of `data_prep` tell apart, one case to a row.

`raw/` holds the tables of MQM and of error spans and their texts, with the faults of the real ones. The other sources
are archives, JSON and CSV, which are written here. Documents and raters of a case are named after what it shows.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_prep import biomedical, esa, judgments, segment_scores
from data_prep.segment_scores import FOLDERS, HTER_PAIRS, POST_EDITS

RAW = Path(__file__).with_name("raw")
HELD_OUT = (
    # As in a list that was drawn: with the talk's English its Chinese, whose reference it is.
    *("The bridge is closed today.", "I want to tell you about bees.", "我想给大家讲讲蜜蜂。"),
    *("A held-out source.", "Ein Prüftext.", "船在海上等待。"),
)
"""The texts on the list of held-out texts."""


def write_all(root: Path) -> Path:
    """Writes all raw files and returns their folder."""
    shutil.copytree(RAW, root)
    pack_biomedical(root, BIOMEDICAL)
    write_esa(root, ESA, ESA_WAVE_3)
    for path, text in TEXTS.items():
        write(root / path, text)
    for pair in HTER_PAIRS:
        for part in ("train", "dev"):
            write_mlqe_pe(root, pair, part)
    for system, (hypothesis, values, source) in WMT25.items():
        write_wmt25(root, system, hypothesis, values, source)
    for prompt, best in {"DA": "100", "SQM": "80", "Stars": "5.0", "Classes": "4"}.items():
        write_judgments(root, prompt, f"Online-A\t{best}\n")
    write(root / judgments.FOLDER / "metric-scores/en-ru/GEMBA-GPT4-DA-src.seg.score", "Online-A\tNone\n")
    write(root / judgments.REMEDY_FOLDER / "de-en/REMEDY-9b-refA.seg.score", "Unknown\t0.5\nUF\t0.75\nUF\tNone\n")
    return root


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def pack(path: Path, members: Mapping[str, str]) -> Path:
    """Writes a compressed archive; the end of its name says how."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w:gz") as archive:
        for name, text in members.items():
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def mark(term: str, start: int, severity: str = "Minor", category: str = "Style/Non_fluent") -> dict[str, Any]:
    """An error of the biomedical ratings, whose end is inclusive."""
    first, _, second = category.partition("/")
    return {
        "term": term,
        "startIndex": start,
        "endIndex": start + len(term) - 1,
        "severity": severity,
        "error_category": first,
        "error_subcategory": second,
    }


def rated(document: str, *marks: dict[str, Any], rater: str = "r1", **other: Any) -> dict[str, Any]:
    """A row of the biomedical ratings: "Der Arzt half." as "The doctor helped."."""
    return {
        "source": "Der Arzt half.",
        "target": "The doctor helped.",
        "source_errors": [],
        "target_errors": marks,
        "SEG_ID": "1",
        "filename": f"{document}.txt",
        "DOC_ID": document,
        "Annotator_ID": rater,
        "MT_Engine": "",
        "source_locale": "dede",
        "target_locale": "enus",
        **other,
    }


DOCTOR = mark("doctor", 4)
BIOMEDICAL = {
    "de2en/Nemo": [
        rated("major", mark("doctor", 4, "Major", "Terminology/Wrong_term")),
        rated("none"),
        # What is dropped counts in the score.
        rated("dropped", mark("helped", 11, "Critical"), mark("The", 0, "Neutral"),
              source_errors=[mark("Arzt", 4, "Minor", "Accuracy/Omission")]),
        rated("floor", *[mark("doctor", 4, "Major")] * 7),
        rated("too-early", mark("doctor", 1)),
        rated("too-late", mark("doctor", 7)),
        rated("exclusive-end", mark("helped", 11) | {"endIndex": 17}),
        # A place is left out with all its ratings, unless other raters' spans stand right.
        rated("another-text", mark("cardiology", 0)),
        rated("beyond", mark("cardiology", 400)),
        rated("three-right", mark("cardiology", 0, "Major"), mark("e", 300), mark("helped", 0)),
        rated("merged", mark("doctor", 4, "Major"), rater="r2"),
        rated("merged", mark("helped", 11), rater="r1 "),
        rated("two-sources", rater="r1"),
        rated("two-sources", rater="r2", source="Anders.", target="Different."),
        rated("human"),
    ],
    "de2en/Dory": [rated("another-text", mark("cardiology", 0)), rated("three-right", DOCTOR)],
    "de2en/Marlin": [rated("another-text")],
    "de2en/Hank": [rated("another-text", mark("helped", 11)), rated("three-right", DOCTOR)],
    "de2en/reference": [
        rated("human", target="The physician helped."),
        rated("human", source="Anderswo.", target="Elsewhere."),
        rated("held-out", source="Ein Prüftext!", target="A test."),
        rated("held-out", source="Ein anderer.", target="A held-out source."),
    ],
    "de2en/reference_r1": [rated("human", target="The physician has helped.")],
    "de2fr/Nemo": [rated("human", target="Le médecin aida.")],
    "en2fr/Nemo": [rated("test", source="An eye!", target="Œil."), rated("test", source="A held-out source.")],
    "en2de/Nemo": [rated("tested", source="An eye.", target="Ei.")],
}  # fmt: skip


def pack_biomedical(root: Path, files: Mapping[str, object]) -> None:
    members = {f"./data/v2/{name}.json": json.dumps(rows) for name, rows in files.items()}
    pack(root / f"{biomedical.FOLDER}.tar.xz", members)


def span(start: int | str, end: int | str, severity: str = "minor") -> dict[str, Any]:
    """An error of the ESA ratings, whose end is inclusive."""
    return {"start_i": start, "end_i": end, "severity": severity, "error_type": None}


def esa_row(rater: str, *spans: dict[str, Any], **other: str) -> list[str]:
    fields = {
        "rater": rater,
        "system": "Nemo",
        "segment": "1",
        "kind": "TGT",
        "source": "eng",
        "target": "ces",
        "score": "70",
        "document": "doc_1",
        "incomplete": "False",
        "spans": json.dumps(spans),
        "start": "1.0",
        "end": "2.0",
    }
    return list({**fields, **other}.values())


ESA = [
    esa_row("inclusive", span(0, 2, "major"), span(4, 5)),
    esa_row("missing", span("missing", "missing", "major"), span(0, 2, "undecided")),
    esa_row("human", system="refA", segment="2", score="100"),
    esa_row("check", kind="BAD"),
    esa_row("tutorial", system="ende-tutorial1", segment="1000001"),
    esa_row("replaced", score="10", end="9.0"),
    esa_row("replaced", score="20", end="3.0"),
    esa_row("same-time", score="10"),
    esa_row("same-time", score="20"),
    esa_row("overlap", span(0, 6), span(4, 5, "major"), span(6, 9)),
    esa_row("beyond", span(7, 40), span(11, 12, "major")),
    esa_row("held-out", segment="3"),
    # A pair to test on: only what is held out.
    esa_row("test", target="zho"),
    esa_row("test", target="zho", segment="3"),
]
ESA_WAVE_3 = [esa_row("replaced", score="30", segment="2"), esa_row("wave-3", document="doc_1#dup")]


def write_esa(root: Path, *waves: Iterable[Sequence[str]]) -> None:
    for name, rows in zip(esa.FILES, waves, strict=True):
        stream = io.StringIO(newline="")
        csv.writer(stream).writerows(rows)
        write(root / name, stream.getvalue())


def lines(*texts: str) -> str:
    return "".join(f"{text}\n" for text in texts)


def write_mlqe_pe(root: Path, pair: str, part: str) -> None:
    """Writes the assessments of a pair, and its post-edits."""
    table = lines(
        "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores",
        '0\tA "dog.\tEin "Hund.\t[80]\t80.0\t[1]\t1\t-0.1',
        "1\tA held-out source.\tX\t[1]\t1\t[1]\t1\t0",
    )
    assessments = root / segment_scores.MLQE_PE_FOLDER / "data/direct-assessments"
    pack(assessments / part / f"{pair}-{part}.tar.gz", {f"{pair}/{part}.df.short.tsv": table})
    # One deletion for two words; three edits for one word, which is more than all.
    texts = {
        "src": lines("the dog", "Ein Prüftext.", "one"),
        "mt": lines("der gute Hund", "x", "a b c"),
        "pe": lines("der Hund", "x", "d"),
    }
    members = {f"{pair}-{part}/{part}.{ending}": text for ending, text in texts.items()}
    pack(root / POST_EDITS / part / f"{pair}-{part}.tar.gz", members)


LONG = "x" * 601
WMT25: dict[str, tuple[str, list[float], str | None]] = {
    # One system's file holds the sources of all. The reference is the best other text, not the same by another system.
    "Good": (f"Pes spí.\n\nPrší.\n\na\n\nb\n\n{LONG}", [0.9, 0.2, 0.5, 0.5, 0.5],
             f"The dog sleeps.\n\nIt rains.\n\nA held-out source.\n\n{LONG}\n\nShort."),
    "Same": ("Pes spí.\n\nPadá déšť.\n\naa\n\nbb\n\ncc", [0.8, 0.6, 0.4, 0.4, 0.4], None),
    "Bad": ("Kočka.\n\nPrší.\n\naa\n\nbbb\n\ncc", [0.1, 0.3, 0.4, 0.3, 0.4], None),
}  # fmt: skip
MIDDLES = {"XCOMET-XL": 0.5, "CometKiwi-XL": 0.5, "MetricX-24-Hybrid-XL": -12.5}
MIDDLES |= {"GEMBA-ESA-GPT4.1": 50, "GEMBA-ESA-CMDA": 50}
"""The middle of the scale of each metric of WMT25."""


def write_wmt25(root: Path, system: str, hypothesis: str, values: list[float], source: str | None) -> None:
    """Writes one document of a system, with the same scores, 0 to 1, by all metrics."""
    text = {"doc_id": "en-cs_CZ_#_speech_#_vid_a1", "hypothesis": hypothesis}
    scores = {
        name: [(2 * value - 1) * middle + middle if middle > 0 else 25 * (value - 1) for value in values]
        for name, middle in MIDDLES.items()
    }
    said = {"language_pair": "en-cs_CZ", "domain": "speech", "document_id": "a1", "metric_scores": scores}
    contents = {"systems": text | ({} if source is None else {"source": source}), "automatic_scores": said}
    for folder, content in contents.items():
        write(root / segment_scores.WMT25 / "data" / folder / f"{system}.jsonl", json.dumps(content) + "\n")


def write_judgments(root: Path, prompt: str, text: str) -> None:
    """Writes the scores of a prompt, with a reference and without, for all language pairs."""
    for pair in judgments.LANG_PAIRS:
        for read in ("refA", "src"):
            name = f"metric-scores/{pair}/GEMBA-GPT4-{prompt}-{read}.seg.score"
            write(root / judgments.FOLDER / name, text)


def _texts() -> dict[str, str]:
    """Returns the texts of the WMT test sets that `raw/` lacks, and their assessments, by path."""
    rows = "SYS SID RAW.SCR Z.SCR N \nUF.15 1 93.5 0.4730925 2 \nNemo.3 1 10 -1.25 1 \nHUMAN.0 1 99 1 1 \n"
    rows += "Unknown.1 1 50 0 1 \nUF.15 2 5 -2 1 \n"
    texts = {f"{folder}/humaneval/{part}de-en.csv": rows for folder, part in FOLDERS.values()}
    for name in ("newstest2021", "generaltest2022"):
        folder = f"wmt/{name}/txt"
        texts[f"{folder}/sources/{name}.de-en.src.de"] = lines("Der Hund.", "Ein Prüftext.")
        texts[f"{folder}/references/{name}.de-en.ref.A.en"] = lines("The dog.", "A test.")
        texts[f"{folder}/system-outputs/{name}.de-en.hyp.UF.en"] = lines("A dog.", "A held-out text.")
        texts[f"{folder}/system-outputs/{name}.de-en.hyp.NVIDIA-NeMo.en"] = lines("Dog?", "Text.")
    for pair in judgments.LANG_PAIRS:
        for system in ("Online-A", "Unjudged"):
            name = f"generaltest2022.{pair}.hyp.{system}.{pair[-2:]}"
            texts[f"wmt/generaltest2022/txt/system-outputs/{name}"] = lines(f"{system} {pair}")
    for language, sleeps, rains in (("cs", "Kočka spí.", "Prší."), ("zh", "猫在睡觉。", "下雨了。")):
        folder = f"{esa.TEXTS}/txt"
        texts[f"{folder}/sources/en-{language}.txt"] = lines(
            "canary", "The cat sleeps.", "It rains.", "A held-out source."
        )
        texts[f"{folder}/references/en-{language}.refA.txt"] = lines("canary", sleeps, rains, "x")
        texts[f"{folder}/system-outputs/en-{language}/Nemo.txt"] = lines("canary", "Pes tu spí.", "Déšť.", "y")
    # Human translations beside those of five systems, in the older layout and the newer one.
    folder = "wmt/newstest2021/txt"
    texts[f"{folder}/sources/newstest2021.cs-en.src.cs"] = lines("Pes spí.", "Ein Prüftext.", "Prší.")
    texts[f"{folder}/references/newstest2021.cs-en.ref.A.en"] = lines("The dog sleeps.", "X.", "It rains.")
    texts[f"{folder}/sources/newstest2021.ha-en.src.ha"] = lines("unused")
    texts[f"{esa.TEXTS}/txt/sources/en-ja.txt"] = lines("The dog sleeps.")
    texts[f"{esa.TEXTS}/txt/references/en-ja.refA.txt"] = lines("犬が眠っている。")
    texts[f"{esa.TEXTS}/txt/documents/en-ja.docs"] = lines("news")
    for number, system in enumerate("ABCDE"):
        name = f"newstest2021.cs-en.hyp.{system}-1.en"
        texts[f"{folder}/system-outputs/{name}"] = lines(f"The dog {system}.", f"X{number}.", "")
        texts[f"{esa.TEXTS}/txt/system-outputs/en-ja/{system}.txt"] = lines(f"犬{system}。")
    return texts


TEXTS = _texts()
