"""The formats of files of ratings, as data: a row each. CONTRIBUTING.md says how to add one.

The module of a format is imported when a file is read or written.
"""

from __future__ import annotations

from matese.formats import signs
from matese.formats.format import Format

_CORPORA = "matese.formats.corpora"
_TOOLS = "matese.formats.tools"
_TABLES = "matese.formats.tables"
_LOCALISATION = "matese.formats.localisation"

TABLE = (
    Format(
        "mtme",
        "test set directory of mt-metrics-eval",
        f"{_CORPORA}.mt_metrics_eval",
        signs.is_mtme,
        writes=None,
        needs_other_files=True,
    ),
    Format(
        "mqm-tsv",
        "MQM TSV, which Marot opens",
        f"{_CORPORA}.mqm_tsv",
        signs.is_mqm_tsv,
        endings=(".tsv",),
        first_segment=1,
    ),
    Format(
        "wmt25-spans",
        "WMT submission of error spans, 2025",
        f"{_CORPORA}.wmt_span_submission",
        signs.is_wmt25,
        endings=(".tsv",),
    ),
    Format(
        "wmt26",
        "test set and submission of WMT 2026, errors, scores and error-free labels",
        f"{_CORPORA}.wmt26",
        signs.is_wmt26,
        endings=(".jsonl",),
        needs_other_files=True,
    ),
    Format("esa", "error span annotation of WMT 2024 and 2025", f"{_CORPORA}.esa", signs.is_esa, writes=None),
    Format(
        "error-spans",
        "error-span TSV",
        f"{_CORPORA}.error_span_tsv",
        signs.is_error_span_tsv,
        endings=(".tsv",),
    ),
    Format(
        "label-studio",
        "Label Studio tasks with predictions",
        f"{_TOOLS}.label_studio",
        signs.is_label_studio,
        writes="folder",
        is_for_people=True,
    ),
    Format(
        "pearmut",
        "Pearmut campaign",
        f"{_TOOLS}.pearmut",
        signs.is_pearmut,
        endings=(".json",),
        is_for_people=True,
    ),
    Format(
        "appraise",
        "Appraise batches for ESA, and its results",
        f"{_TOOLS}.appraise",
        signs.is_appraise,
        writes="folder",
        is_for_people=True,
        needs_other_files=True,
    ),
    Format(
        "xcomet",
        "JSON of comet-score with an xCOMET model",
        f"{_TABLES}.comet_json",
        signs.is_comet_json,
        writes=None,
    ),
    Format(
        "word-tags",
        "OK/BAD tags of words, as WMT QE has them",
        f"{_CORPORA}.word_tags",
        signs.is_word_tags,
        writes="folder",
        needs_other_files=True,
    ),
    Format(
        "wmt-scores",
        "WMT metrics submission, 2022 and later",
        f"{_CORPORA}.score_exports",
        kind="_wmt",
        reads=False,
        writes="folder",
        first_segment=1,
    ),
    Format(
        "mtme-scores",
        "mt-metrics-eval, .seg.score and .sys.score",
        f"{_CORPORA}.score_exports",
        kind="_mtme",
        reads=False,
        writes="folder",
    ),
    # Read with the texts of its test set, as a part of mtme.
    Format(
        "seg-rating",
        "mt-metrics-eval, .seg.rating",
        f"{_CORPORA}.seg_rating",
        signs.is_seg_rating,
        reads=False,
    ),
    Format(
        "xliff",
        "XLIFF 1.2 and 2.x, errors as notes",
        f"{_LOCALISATION}.translation_files",
        signs.is_xliff,
        endings=(".xlf", ".xliff"),
        writes="copy",
        is_for_localisation=True,
    ),
    Format(
        "po",
        "PO, errors as comments",
        f"{_LOCALISATION}.translation_files",
        signs.is_po,
        endings=(".po",),
        writes="copy",
        is_for_localisation=True,
    ),
    Format(
        "tmx",
        "TMX, translation memory",
        f"{_LOCALISATION}.tmx",
        signs.is_tmx,
        endings=(".tmx",),
        writes=None,
        is_for_localisation=True,
    ),
    Format(
        "vtt",
        "WebVTT, subtitles, errors as notes",
        f"{_LOCALISATION}.translation_files",
        signs.is_vtt,
        "_vtt",
        endings=(".vtt",),
        writes="copy",
        stands_for_lines=True,
        is_for_localisation=True,
    ),
    Format(
        "srt",
        "SRT, subtitles",
        f"{_LOCALISATION}.translation_files",
        signs.is_srt,
        "_vtt",
        endings=(".srt",),
        writes=None,
        stands_for_lines=True,
        is_for_localisation=True,
    ),
    Format(
        "tsv",
        "TSV, a table separated by tabs",
        f"{_TABLES}.csv_table",
        signs.is_tsv,
        "_tsv",
        endings=(".tsv",),
        is_for_large_jobs=True,
    ),
    Format("csv", "CSV", f"{_TABLES}.csv_table", signs.is_table, endings=(".csv",), is_for_large_jobs=True),
    Format(
        "xlsx",
        "workbook of a spreadsheet, first sheet",
        f"{_TABLES}.xlsx",
        signs.is_workbook,
        endings=(".xlsx",),
        writes="binary file",
    ),
    Format(
        "parquet",
        "Parquet",
        f"{_TABLES}.parquet",
        signs.is_parquet,
        "_parquet",
        endings=(".parquet",),
        writes="binary file",
        is_for_large_jobs=True,
    ),
    Format(
        "hf-dataset",
        "data set of Hugging Face",
        f"{_TABLES}.parquet",
        signs.is_data_set,
        "_dataset",
        writes="folder",
    ),
    Format(
        "doccano",
        "doccano sequence labelling",
        f"{_TOOLS}.doccano",
        signs.is_doccano,
        endings=(".jsonl",),
        is_for_people=True,
    ),
    Format(
        "json",
        "a list of the objects of our JSONL",
        f"{_TABLES}.json_table",
        signs.is_json_list,
        "_list",
        endings=(".json",),
    ),
    # Last: JSON of no other format is taken for ours.
    Format("jsonl", "our JSONL", f"{_TABLES}.json_table", signs.is_json, endings=(".jsonl",), is_for_large_jobs=True),
)

BY_NAME = {form.name: form for form in TABLE}
READ = tuple(form.name for form in TABLE if form.reads)
WRITTEN = tuple(form.name for form in TABLE if form.writes)
