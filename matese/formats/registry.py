"""The formats of files of ratings: one line each. CONTRIBUTING.md says how to add one."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from matese.formats.corpora import (
    error_span_tsv,
    mqm_tsv,
    mt_metrics_eval,
    score_exports,
    seg_rating,
    wmt26,
    wmt_span_submission,
    word_tags,
)
from matese.formats.format import Format
from matese.formats.localisation import tmx, translation_files
from matese.formats.tables import comet_json, csv_table, json_table, parquet, xlsx
from matese.formats.tools import appraise, doccano, label_studio, pearmut


def _of(name: str, title: str, module: ModuleType, kind: str = "", **more: Any) -> Format:  # noqa: ANN401
    """Returns the format of a module: its CAPABILITIES, `read`, `write`, `save`, `adapt` and `matches`, if it has them.

    Where a module has several formats, "_KIND" follows the names of what they do not share.
    """
    names = ("read", "write", "save", "adapt", "matches", "CAPABILITIES")
    parts = {part.lower(): getattr(module, f"{part}{kind}", getattr(module, part, None)) for part in names}
    return Format(name, title, **{part: value for part, value in parts.items() if value}, **more)


TABLE = (
    _of("mtme", "test set directory of mt-metrics-eval", mt_metrics_eval),
    _of("mqm-tsv", "MQM TSV, which Marot opens", mqm_tsv, first_segment=1),
    _of("wmt25-spans", "WMT submission of error spans, 2025", wmt_span_submission),
    _of("wmt26", "test set and submission of WMT 2026, errors, scores and error-free labels", wmt26),
    _of("error-spans", "error-span TSV", error_span_tsv),
    _of("label-studio", "Label Studio tasks with predictions", label_studio, is_folder=True, is_for_people=True),
    _of("pearmut", "Pearmut campaign", pearmut, is_for_people=True),
    _of("appraise", "Appraise batches for ESA, and its results", appraise, is_folder=True, is_for_people=True),
    _of("xcomet", "JSON of comet-score with an xCOMET model", comet_json),
    _of("word-tags", "OK/BAD tags of words, as WMT QE has them", word_tags, is_folder=True),
    _of("wmt-scores", "WMT metrics submission, 2022 and later", score_exports, "_wmt", is_folder=True, first_segment=1),
    _of("mtme-scores", "mt-metrics-eval, .seg.score and .sys.score", score_exports, "_mtme", is_folder=True),
    # Read with the texts of its test set, as a part of mtme.
    replace(_of("seg-rating", "mt-metrics-eval, .seg.rating", seg_rating), read=None),
    _of("xliff", "XLIFF 1.2 and 2.x, errors as notes", translation_files, "_xliff"),
    _of("po", "PO, errors as comments", translation_files, "_po"),
    _of("tmx", "TMX, translation memory", tmx),
    _of("tsv", "TSV, a table separated by tabs", csv_table, "_tsv"),
    _of("csv", "CSV", csv_table),
    _of("xlsx", "workbook of a spreadsheet, first sheet", xlsx),
    _of("parquet", "Parquet", parquet, "_parquet"),
    _of("hf-dataset", "data set of Hugging Face", parquet, "_dataset", is_folder=True),
    _of("doccano", "doccano sequence labelling", doccano, is_for_people=True),
    _of("json", "a list of the objects of our JSONL", json_table, "_list"),
    # Last: JSON of no other format is taken for ours.
    _of("jsonl", "our JSONL", json_table),
)

BY_NAME = {form.name: form for form in TABLE}
READ = tuple(form.name for form in TABLE if form.read is not None)
WRITTEN = tuple(form.name for form in TABLE if form.writes)
