"""The formats of files of ratings: one line each. docs/formats.md says how to add one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from matese.annotation import Rating
from matese.formats import (
    appraise,
    brat,
    csv_file,
    doccano,
    error_spans,
    esd_submission,
    jsonl,
    label_studio,
    localisation,
    metric_submission,
    mqm_tsv,
    mtme_ratings,
    parquet,
    pearmut,
    word_tags,
    xcomet,
)
from matese.formats.format import Format, Writing
from matese.formats.holding import Holds


def _jsonl(ratings: Iterable[Rating], writing: Writing) -> Iterator[str]:
    return (f"{jsonl.dumps(rating, weights=writing.weights)}\n" for rating in ratings)


TABLE = (
    Format(
        "mqm-tsv",
        "MQM TSV, which Marot opens",
        mqm_tsv.HOLDS,
        read=lambda path, how: mqm_tsv.read(path, report=how.report, test_set=how.test_set, lang_pair=how.lang_pair),
        write=lambda ratings, how: mqm_tsv.write(ratings),
        begins=lambda start: set(mqm_tsv.COLUMNS) <= set(start.fields),
    ),
    Format(
        "wmt24-spans",
        "WMT submission of error spans, 2023 and 2024",
        esd_submission.HOLDS_2024,
        read=esd_submission.read_2024,
        write=esd_submission.write_2024,
        begins=esd_submission.begins_2024,
    ),
    Format(
        "wmt25-spans",
        "WMT submission of error spans, 2025",
        esd_submission.HOLDS_2025,
        read=esd_submission.read_2025,
        write=esd_submission.write_2025,
        begins=esd_submission.begins_2025,
    ),
    Format(
        "error-spans",
        "error-span TSV",
        error_spans.HOLDS,
        read=lambda path, how: error_spans.read(
            path,
            report=how.report,
            test_set=how.test_set,
            lang_pair=how.lang_pair,
            end_shift=how.end_shift,
            single_characters=how.single_characters,
        ),
        write=lambda ratings, how: error_spans.write(ratings),
        # A binary file may have as many tabs.
        begins=lambda start: (
            start.fields[0] == error_spans.COLUMNS[0]
            or (len(start.fields) == len(error_spans.COLUMNS) and "\0" not in start.text)
        ),
    ),
    Format(
        "label-studio",
        "Label Studio tasks with predictions",
        label_studio.HOLDS,
        read=label_studio.read,
        save=label_studio.save,
        is_folder=True,
        is_for_people=True,
        begins=label_studio.begins,
    ),
    Format(
        "pearmut",
        "Pearmut campaign",
        pearmut.HOLDS,
        read=pearmut.read,
        write=pearmut.write,
        is_for_people=True,
        begins=pearmut.begins,
    ),
    Format(
        "appraise",
        "Appraise batches for ESA, and its results",
        appraise.HOLDS,
        read=appraise.read,
        save=appraise.save,
        adapt=appraise.adapt,
        is_folder=True,
        is_for_people=True,
        begins=appraise.begins,
    ),
    Format(
        "brat",
        "brat standoff",
        brat.HOLDS,
        read=brat.read,
        save=brat.save,
        is_folder=True,
        is_for_people=True,
        begins=brat.begins,
    ),
    Format("xcomet", "JSON of comet-score with an xCOMET model", read=xcomet.read, begins=xcomet.begins),
    Format(
        "word-tags",
        "OK/BAD tags of words, as WMT QE has them",
        word_tags.HOLDS,
        read=word_tags.read,
        save=word_tags.save,
        adapt=word_tags.adapt,
        is_folder=True,
        begins=word_tags.begins,
    ),
    Format(
        "wmt-scores",
        "WMT metrics submission, 2022 and later",
        metric_submission.HOLDS,
        save=metric_submission.save_wmt,
        is_folder=True,
    ),
    Format(
        "mtme",
        "test set directory of mt-metrics-eval",
        read=mtme_ratings.read,
        begins=mtme_ratings.begins,
    ),
    Format(
        "mtme-scores",
        "mt-metrics-eval, .seg.score and .sys.score",
        metric_submission.HOLDS,
        save=metric_submission.save_mtme,
        is_folder=True,
    ),
    Format(
        "seg-rating",
        "mt-metrics-eval, .seg.rating",
        metric_submission.HOLDS_RATINGS,
        write=metric_submission.write_ratings,
    ),
    Format(
        "xliff",
        "XLIFF 1.2 and 2.x, errors as notes",
        localisation.HOLDS,
        read=localisation.read,
        save=localisation.save,
        adapt=localisation.adapt,
        begins=localisation.begins_xliff,
    ),
    Format(
        "po",
        "PO, errors as comments",
        localisation.HOLDS_PO,
        read=localisation.read,
        save=localisation.save,
        adapt=localisation.adapt,
        begins=localisation.begins_po,
    ),
    Format("csv", "CSV", csv_file.HOLDS, read=csv_file.read, write=csv_file.write, begins=csv_file.begins),
    Format(
        "parquet",
        "Parquet",
        parquet.HOLDS,
        read=parquet.read_parquet,
        save=parquet.save_parquet,
        begins=parquet.begins_parquet,
    ),
    Format(
        "hf-dataset",
        "data set of Hugging Face",
        parquet.HOLDS,
        read=parquet.read_dataset,
        save=parquet.save_dataset,
        is_folder=True,
        begins=parquet.begins_dataset,
    ),
    Format(
        "doccano",
        "doccano sequence labelling",
        doccano.HOLDS,
        read=doccano.read,
        write=doccano.write,
        is_for_people=True,
        begins=doccano.begins,
    ),
    # The last, since any JSON that is no other's is taken for ours.
    Format(
        "jsonl",
        "our JSONL",
        Holds(),
        read=lambda path, how: jsonl.read(path),
        write=_jsonl,
        begins=lambda start: start.text.lstrip().startswith("{"),
    ),
)

BY_NAME = {one.name: one for one in TABLE}
READ = tuple(one.name for one in TABLE if one.read is not None)
WRITTEN = tuple(one.name for one in TABLE if one.writes)
