"""The formats of files of ratings, as data: a row each. CONTRIBUTING.md says how to add one.

The module of a format is imported when a file is read or written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import PurePath

from matese.errors import UsageError, near_miss, one_of
from matese.formats import signs
from matese.formats.format import Format

TABLE = (
    Format(
        "mtme",
        "test set directory of mt-metrics-eval",
        "corpora.mt_metrics_eval",
        signs.is_mtme,
        writes=None,
        needs_other_files=True,
    ),
    Format(
        "mqm-tsv",
        "MQM TSV, which Marot opens",
        "corpora.mqm_tsv",
        signs.is_mqm_tsv,
        endings=(".tsv",),
        first_segment=1,
    ),
    Format(
        "wmt25-spans",
        "WMT submission of error spans, 2025",
        "corpora.wmt_span_submission",
        signs.is_wmt25,
        endings=(".tsv",),
    ),
    Format(
        "wmt26",
        "test set and submission of WMT 2026, errors, scores and error-free labels",
        "corpora.wmt26",
        signs.is_wmt26,
        endings=(".jsonl",),
        needs_other_files=True,
    ),
    Format("esa", "error span annotation of WMT 2024 and 2025", "corpora.esa", signs.is_esa, writes=None),
    Format(
        "error-spans",
        "error-span TSV",
        "corpora.error_span_tsv",
        signs.is_error_span_tsv,
        endings=(".tsv",),
    ),
    Format(
        "label-studio",
        "Label Studio tasks with predictions",
        "tools.label_studio",
        signs.is_label_studio,
        writes="folder",
    ),
    Format(
        "pearmut",
        "Pearmut campaign",
        "tools.pearmut",
        signs.is_pearmut,
        endings=(".json",),
    ),
    Format(
        "appraise",
        "Appraise batches for ESA, and its results",
        "tools.appraise",
        signs.is_appraise,
        writes="folder",
        needs_other_files=True,
    ),
    Format(
        "xcomet",
        "JSON of comet-score with an xCOMET model",
        "tables.comet_json",
        signs.is_comet_json,
        writes=None,
    ),
    Format(
        "word-tags",
        "OK/BAD tags of words, as WMT QE has them",
        "corpora.word_tags",
        signs.is_word_tags,
        writes="folder",
        needs_other_files=True,
    ),
    Format(
        "wmt-scores",
        "WMT metrics submission, 2022 and later",
        "corpora.score_exports",
        reads=False,
        writes="folder",
        first_segment=1,
    ),
    Format(
        "mtme-scores",
        "mt-metrics-eval, .seg.score and .sys.score",
        "corpora.score_exports",
        reads=False,
        writes="folder",
    ),
    # Read with the texts of its test set, as a part of mtme.
    Format(
        "seg-rating",
        "mt-metrics-eval, .seg.rating",
        "corpora.seg_rating",
        signs.is_seg_rating,
        reads=False,
    ),
    Format(
        "xliff",
        "XLIFF 1.2 and 2.x, errors as notes",
        "localisation.translation_files",
        signs.is_xliff,
        endings=(".xlf", ".xliff"),
        writes="copy",
    ),
    Format(
        "po",
        "PO, errors as comments",
        "localisation.translation_files",
        signs.is_po,
        endings=(".po",),
        writes="copy",
    ),
    Format(
        "tmx",
        "TMX, translation memory",
        "localisation.tmx",
        signs.is_tmx,
        endings=(".tmx",),
        writes=None,
    ),
    Format(
        "vtt",
        "WebVTT, subtitles, errors as notes",
        "localisation.translation_files",
        signs.is_vtt,
        endings=(".vtt",),
        writes="copy",
        stands_for_lines=True,
    ),
    Format(
        "srt",
        "SRT, subtitles, corrections alone",
        "localisation.translation_files",
        signs.is_srt,
        endings=(".srt",),
        writes="corrections",
        stands_for_lines=True,
    ),
    Format(
        "android",
        "Android, strings.xml beside that of the source",
        "localisation.translation_files",
        signs.is_android,
        endings=(".xml",),
        writes="corrections",
    ),
    Format(
        "xcstrings",
        "string catalogue of Xcode",
        "localisation.translation_files",
        signs.is_xcstrings,
        endings=(".xcstrings",),
        writes="corrections",
    ),
    Format(
        "i18n-json",
        "JSON or ARB of texts by keys, beside that of the source",
        "localisation.translation_files",
        signs.is_i18n_json,
        endings=(".json", ".arb"),
        writes="corrections",
    ),
    Format(
        "tsv",
        "TSV, a table separated by tabs",
        "tables.csv_table",
        signs.is_tsv,
        endings=(".tsv",),
        is_for_large_jobs=True,
    ),
    Format("csv", "CSV", "tables.csv_table", signs.is_table, endings=(".csv",), is_for_large_jobs=True),
    Format(
        "xlsx",
        "workbook of a spreadsheet, first sheet",
        "tables.xlsx",
        signs.is_workbook,
        endings=(".xlsx",),
        writes="binary file",
    ),
    Format(
        "parquet",
        "Parquet",
        "tables.parquet",
        signs.is_parquet,
        endings=(".parquet",),
        writes="binary file",
        is_for_large_jobs=True,
    ),
    Format(
        "hf-dataset",
        "data set of Hugging Face",
        "tables.parquet",
        signs.is_data_set,
        writes="folder",
    ),
    Format(
        "doccano",
        "doccano sequence labelling",
        "tools.doccano",
        signs.is_doccano,
        endings=(".jsonl",),
    ),
    Format(
        "json",
        "a list of the objects of our JSONL",
        "tables.json_table",
        signs.is_json_list,
        endings=(".json",),
    ),
    # Last: JSON of no other format is taken for ours.
    Format("jsonl", "our JSONL", "tables.json_table", signs.is_json, endings=(".jsonl",), is_for_large_jobs=True),
)

BY_NAME = {form.name: form for form in TABLE}
READ = tuple(form.name for form in TABLE if form.reads)
WRITTEN = tuple(form.name for form in TABLE if form.writes)
ENDINGS: Mapping[str, tuple[str, ...]] = {
    # The format that has the name of the ending is written if none is named.
    ending: tuple(
        sorted((form.name for form in TABLE if ending in form.endings), key=lambda name: f".{name}" != ending)
    )
    for ending in dict.fromkeys(ending for form in TABLE if form.writes for ending in form.endings)
}
"""Formats by the ending of a file's name; the first is written if no format is named."""


def ending_of(path: str) -> str:
    """Returns the ending of a file's name, in lower case and without ".gz"."""
    return PurePath(path.removesuffix(".gz")).suffix.lower()


def format_of(
    path: str, name: str | None, endings: Mapping[str, tuple[str, ...]] = ENDINGS, *, option: str = "format="
) -> str:
    """Returns the name of the format that a file is written in: the named one, or that of the ending of its name.

    Args:
        path: of the file; ".gz" at its end is skipped.
        name: of the format; None for that of the ending.
        endings: formats by the ending.
        option: that names a format, for messages.

    Raises:
        UsageError: if the ending belongs to other formats than the named one, or to none and no format is named.

    >>> format_of("out/Spans.CSV.gz", None), format_of("ted.tsv", "mqm-tsv"), format_of("tasks", "label-studio")
    ('csv', 'mqm-tsv', 'label-studio')
    """
    ending = ending_of(path)
    if name is None and os.path.isdir(path):
        raise UsageError(f"{path}: is a directory; choose a file that can be written, or name the format with {option}")
    if name is None and ending in endings:
        return endings[ending][0]
    if name is None and ending not in ENDINGS and any(ending in form.endings for form in TABLE):
        raise UsageError(f"{path}: {ending} files can only be read; choose {one_of(tuple(endings))}")
    if name is None:
        hint = near_miss(ending, endings) if ending else ""
        problem = f"{path}: the name has no ending that stands for a format{hint or ':'}"
        raise UsageError(f"{problem} use {one_of(tuple(endings))}, or name the format with {option}")
    if name not in endings.get(ending, (name,)):
        usual = next((f"a name in {suffix}, or " for suffix, names in endings.items() if name in names), "")
        problem = f"{path}: {ending} stands for {one_of(endings[ending])}, but the format is {name}"
        raise UsageError(f"{problem}: use {usual}another format")
    return name
