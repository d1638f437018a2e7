"""Signs by which the format of a file is known: how it begins, or the names of the files in a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from matese.formats.corpora.csv_quoting import unquoted
from matese.formats.tables import headings

MQM_COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
LEAST_MQM_COLUMNS = 7
_MAROT_COLUMNS = {"docsegid": "doc_id", "globalsegid": "seg_id"}
ERROR_SPAN_COLUMNS = (
    *("mt_system", "doc_id", "seg_id", "annotator_id", "source", "target"),
    *("start_ids", "end_ids", "errors"),
)
_WMT25_COLUMNS = (
    *("doc_id", "segment_id", "system_id", "hypothesis_segment"),
    *("start_indices", "end_indices", "error_types"),
)
_WMT26_KEYS = ("hyps", "task1_pred", "task2_pred", "task3_pred")
_COMET_KEYS = frozenset({"src", "mt", "ref", "COMET", "errors"})
_DOCCANO_LABELS = ("label", "labels", "entities", "annotations")
_JSON_TOKEN = re.compile(r'"(?P<key>(?:[^"\\]|\\.)*+)"\s*:|"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
_CUE_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}[ \t]*-->"
_FEWEST_KNOWN = 2
_LONGEST_NAME = 30
_ZIP = "PK\x03\x04"


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a file or folder, from which its format is detected.

    Attributes:
        name: without its directories.
        text: first characters of a file; empty for a folder.
        files: names of the files in a folder.
    """

    name: str
    text: str = ""
    files: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """The first line, without its end."""
        return self.text.partition("\n")[0].removesuffix("\r")

    @property
    def fields(self) -> list[str]:
        """The tab-separated fields of the first line."""
        return self.first_line.split("\t")

    def has_ending(self, *endings: str) -> bool:
        """Whether the name ends so, in any case and compressed or not."""
        return self.name.casefold().removesuffix(".gz").endswith(endings)

    def is_json(self, *keys: str) -> bool:
        """Whether it begins like JSON and contains these keys."""
        return self.text.lstrip()[:1] in ("{", "[") and all(re.search(rf'"{key}"\s*:', self.text) for key in keys)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the first JSON object, without those of objects inside it, as far as the text goes.

        >>> FileHead("", '[{"a": {"b": "}"}, "c": [{"d": 1}], "e": "f').keys
        ('a', 'c', 'e')
        """
        keys: list[str] = []
        depth = 0
        text = self.text.lstrip("[ \t\r\n")
        for token in _JSON_TOKEN.finditer(text if text.startswith("{") else ""):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth == 0:
                break
            if depth == 1 and token["key"] is not None:
                keys.append(token["key"])
        return tuple(keys)


def is_mtme(head: FileHead) -> bool:
    """Whether a folder is a test set of mt-metrics-eval, or a file has the name of one of its scores or ratings."""
    is_folder = {"human-scores", "sources", "system-outputs"} <= set(head.files)
    return is_folder or re.search(r"\.(seg|sys)\.(score|rating)(\.gz)?$", head.name) is not None


def is_mqm_tsv(head: FileHead) -> bool:
    """Whether a file begins with the header, or one that lacks a column or two, which its reader names.

    As a table of translations it would lose its errors in silence; so would one that a spreadsheet has saved as CSV.
    """
    header = [unquoted(field) for field in head.fields]
    by_comma = headings.split(head.first_line)[1] if len(header) == 1 else header
    return len(set(MQM_COLUMNS) & set(mqm_names(by_comma))) >= LEAST_MQM_COLUMNS


def mqm_names(fields: Iterable[str]) -> list[str]:
    """Returns the names of the columns of an MQM TSV; Marot has others for two of them."""
    names = [field.strip().lower() for field in fields]
    if names and names[-1].startswith("#"):  # a comment of Marot, of which the rows know nothing
        names.pop()
    return [_MAROT_COLUMNS.get(name, name) for name in names]


def is_wmt25(head: FileHead) -> bool:
    """Whether a file begins with the header of a submission of 2025."""
    return set(_WMT25_COLUMNS) <= set(head.fields)


def is_wmt26(head: FileHead) -> bool:
    """Whether a file begins like the test set of 2026, or a submission."""
    has_content = any(f'"{key}"' in head.text for key in _WMT26_KEYS)
    return head.is_json("item_id") and "_###_" in head.text and has_content


def is_esa(head: FileHead) -> bool:
    """Whether a file begins with an annotation of WMT 2024 or 2025."""
    keys = set(head.keys)
    has_systems = re.match(r'\s*\[?\s*\{\s*"scores"\s*:\s*\{', head.text) is not None
    return has_systems or {"esa_spans", "langs"} <= keys or {"tgt_text", "scores"} <= keys


def is_error_span_tsv(head: FileHead) -> bool:
    """Whether a file begins with the header, or with a row whose offsets are numbers."""
    fields = [unquoted(field) for field in head.fields]
    is_row = len(fields) == len(ERROR_SPAN_COLUMNS) and all(re.fullmatch(r"[-\d ]+", field) for field in fields[6:8])
    return fields[0] == ERROR_SPAN_COLUMNS[0] or is_row


def is_label_studio(head: FileHead) -> bool:
    """Whether a file is an export of Label Studio, or a folder has its tasks."""
    if head.files:
        return "tasks.json" in head.files
    has_judgements = head.is_json("annotations") or head.is_json("predictions")
    has_texts = re.search(r'"data"\s*:\s*\{', head.text) is not None
    return (head.is_json() and has_texts and has_judgements) or head.is_json("annotation_id", "lead_time")


def is_pearmut(head: FileHead) -> bool:
    """Whether a file begins like a campaign or its annotations."""
    return head.is_json() and (head.is_json("campaign_id", "info") or _has_translations(head))


def _has_translations(head: FileHead) -> bool:
    """Whether it has translations by their systems, as the items of Pearmut."""
    return re.search(r'"tgt"\s*:\s*\{', head.text) is not None and '"item' in head.text


def is_appraise(head: FileHead) -> bool:
    """Whether a folder has batches."""
    return "batches.json" in head.files


def is_comet_json(head: FileHead) -> bool:
    """Whether a file begins like one of comet-score."""
    is_row = "mt" in head.keys and not set(head.keys) <= _COMET_KEYS  # of a table that has a column COMET
    return head.is_json("mt", "COMET") and not is_row


def is_word_tags(head: FileHead) -> bool:
    """Whether a folder has files of tags, or a file has such a name."""
    return any(name.endswith(".tags") for name in (head.files or [head.name]))


def is_seg_rating(head: FileHead) -> bool:
    """Whether a file begins with the rating of a segment; without the texts, it cannot be read alone."""
    return re.match(r'[^\t\n]*\t(None|\{"errors": \[)', head.text) is not None


def is_xliff(head: FileHead) -> bool:
    """Whether a file begins like XLIFF."""
    return _is_xml(head) and re.search(r"<(?:\w+:)?xliff[\s>]", head.text) is not None


def _is_xml(head: FileHead) -> bool:
    return head.text.lstrip("\ufeff \t\r\n").startswith("<")


def is_android(head: FileHead) -> bool:
    """Whether a file begins like resources of Android."""
    return (
        re.match(r"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<resources\b", head.text, re.DOTALL) is not None
    )


def is_xcstrings(head: FileHead) -> bool:
    """Whether a file is called like a string catalogue of Xcode, and is JSON."""
    return head.has_ending(".xcstrings") and head.is_json()


def is_i18n_json(head: FileHead) -> bool:
    """Whether a file is an empty object, or one of texts and objects of them by keys that are no columns of ours."""
    is_object = head.has_ending(".json", ".arb") and head.text.lstrip().startswith("{")
    has_texts = not head.keys or re.search(r':\s*"', head.text) is not None
    is_ours = "hypothesis" in map(headings.role_of, head.keys) or {"errors", "segments", "hypotheses"} & set(head.keys)
    return is_object and has_texts and not is_ours


def is_keyed(head: FileHead) -> bool:
    """Whether a file has texts by keys."""
    return is_android(head) or is_xcstrings(head) or is_i18n_json(head)


def is_po(head: FileHead) -> bool:
    """Whether a file begins like PO."""
    has_messages = re.search(r"^msgid\s", head.text, re.MULTILINE) is not None and "msgstr" in head.text
    return has_messages or (head.has_ending(".po", ".pot") and head.text.lstrip().startswith("#"))


def is_tmx(head: FileHead) -> bool:
    """Whether a file begins like TMX, or has its name (it may be in UTF-16)."""
    return (_is_xml(head) and re.search(r"<tmx\b", head.text) is not None) or head.has_ending(".tmx")


def is_srt(head: FileHead) -> bool:
    """Whether a file begins with a cue of SubRip: its number, and its times."""
    return re.match(rf"\s*(?:\d+[ \t]*\r?\n)?[ \t]*{_CUE_TIME}", head.text) is not None


def is_vtt(head: FileHead) -> bool:
    """Whether a file begins like WebVTT."""
    return re.match(r"WEBVTT(\s|$)", head.text) is not None


def is_table(head: FileHead) -> bool:
    """Whether a file has the name of a CSV or TSV, or begins with a header in which a column holds translations."""
    first = head.first_line
    is_text = "\0" not in first and not first.startswith(("{", "["))
    return is_text and (head.has_ending(".csv", ".tsv") or headings.is_table(headings.split(first)[1]))


def is_tsv(head: FileHead) -> bool:
    """Whether a file is a table that is separated by tabs."""
    return is_table(head) and headings.split(head.first_line)[0] == "\t"


def is_workbook(head: FileHead) -> bool:
    """Whether a file is a workbook."""
    return (
        head.text.startswith(_ZIP)
        and not is_word_document(head)
        and any(
            part in head.text[:200]  # any may come first in the archive
            for part in ("[Content_Types].xml", "_rels/", "docProps/", "xl/")
        )
    )


def is_word_document(head: FileHead) -> bool:
    """Whether a file is an Office document other than a workbook."""
    parts = re.search(r"\b(?:word|ppt)/", head.text)
    return head.text.startswith(_ZIP) and (head.has_ending(".docx", ".pptx", ".odt") or parts is not None)


def is_parquet(head: FileHead) -> bool:
    """Whether a file begins like a Parquet file."""
    return head.text.startswith("PAR1")


def is_data_set(head: FileHead) -> bool:
    """Whether a folder is a data set of Hugging Face that was saved."""
    return {"dataset_info.json", "state.json"} <= set(head.files)


def is_doccano(head: FileHead) -> bool:
    """Whether a file begins with an object that has a text and labels, and no texts of ours."""
    keys = head.keys
    is_example = "text" in keys and "hypothesis" not in keys and any(key in keys for key in _DOCCANO_LABELS)
    return head.text.lstrip().startswith("{") and is_example


def is_json_list(head: FileHead) -> bool:
    """Whether a file begins like a list in JSON."""
    return head.text.lstrip().startswith("[")


def is_json(head: FileHead) -> bool:
    """Whether a file begins like JSON."""
    return head.text.lstrip().startswith(("{", "["))


def is_no_text(head: FileHead) -> bool:
    """Whether a file that begins like one of a known format cannot be lines of text, which may begin with anything."""
    first = head.first_line
    if head.text.startswith((_ZIP, "PAR1")):
        return True
    if head.is_json():
        return _is_json_document(first)
    if head.text.lstrip().startswith("<"):
        return is_xliff(head) or is_tmx(head) or is_android(head)
    if is_po(head) or is_srt(head) or is_vtt(head) or is_seg_rating(head):
        return True
    if not any(delimiter in first for delimiter in "\t,;"):
        return False
    names = headings.split(first)[1]
    n_known = sum(headings.role_of(name) is not None for name in names)
    is_header = n_known >= _FEWEST_KNOWN and all(0 < len(name) <= _LONGEST_NAME for name in names)
    is_of_shared_task = is_mqm_tsv(head) or is_wmt25(head) or is_error_span_tsv(head)
    return is_of_shared_task or is_header or (head.has_ending(".csv", ".tsv") and len(names) > 1)


def _is_json_document(line: str) -> bool:
    """Whether a line is, or begins, a JSON object or a list of them: lines of text may begin with a bracket, too."""
    if line.strip() in ("{", "[", "[{"):
        return True
    try:
        value = json.loads(line)
    except RecursionError:
        return True
    except ValueError:
        return re.match(r'\s*\[?\s*\{\s*"[^"]*"\s*:', line) is not None
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and bool(first)


_AS_TABLE = "make it a table with a row for each segment, and save that as XLSX or CSV"
_AS_TEXT = "save its text with one segment per line"
_UNREAD = (".properties", ".strings", ".stringsdict", ".yml", ".yaml", ".ftl", ".resx")
"""Endings of localisation files that nothing here reads."""


def other_document(head: FileHead) -> tuple[str, str] | None:
    """Returns what a file is that nothing here reads, and what its owner can do; None for any other file."""
    text = head.text.lstrip()
    if ending := next(filter(head.has_ending, _UNREAD), None):
        return f"a localisation file ({ending})", "convert it to PO, XLIFF or CSV first"
    if text.startswith("%PDF-"):
        return "a PDF document", f"copy its texts into a text file of one segment per line, or {_AS_TABLE}"
    if text.startswith("{\\rtf"):
        return "an RTF document", _AS_TABLE
    if is_word_document(head):
        return "an Office document", f"{_AS_TABLE} (a bilingual table of Word can be copied into a spreadsheet)"
    if head.text.startswith("\ufffd\ufffd\x11\u0871") or head.text.startswith("\ufffd\ufffd\x11"):
        what = "an old workbook (XLS)" if head.has_ending(".xls", ".xlt") else "an old Office document (DOC, XLS)"
        return what, "save it as XLSX in a spreadsheet program" if "XLS)" in what else _AS_TABLE
    if text.startswith(_ZIP) and not is_workbook(head):
        return "an archive (ZIP)", "unpack it, and give the files in it"
    if re.match(r"(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", text, re.IGNORECASE | re.DOTALL):
        return "an HTML page", _AS_TEXT
    if re.match(r"<\?xml\b", text) and not (is_xliff(head) or is_tmx(head) or is_android(head)):
        return "XML", _AS_TEXT
    return None
