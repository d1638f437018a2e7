"""Chooses among the candidates of each source by minimum Bayes risk."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TextIO

from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Loading
from matese.tasks.texts import CandidateTexts, require
from matese.validation.options import Count, group, option

if TYPE_CHECKING:
    from matese.choosing.choice import Choice


@dataclass(frozen=True, kw_only=True)
class Request(sinks.ChoiceOutput):
    """Choose the candidate most similar to all others.

    Attributes:
        utility: chrf, or model for the one of --model (default: chrf).
        aggregate: compare with the average of all candidates, in linear time: for chrF and COMET estimators.
        prune: first keep the best N candidates of each source by a reference-free model.
        prune_model: the model of --prune, which reads sources without references (default: mini).
    """

    candidates: CandidateTexts = group(CandidateTexts)
    loading: Loading = group(Loading)
    utility: Literal["chrf", "model"] = "chrf"
    aggregate: bool = False
    prune: Count | None = None
    prune_model: str = option("mini", metavar="MODEL")


def run(request: Request, stream: TextIO | None = None) -> tuple[Choice, ...]:
    """Chooses the translation of each source that is most similar to all its candidates.

    The choices are written to `output` or `stream`, if there is one; otherwise they are returned.
    """
    candidate_texts = request.candidates
    sinks.check_apart(request.output, candidate_texts.files)
    form = sinks.text_format(request.output, request.format)
    has_source = bool(candidate_texts.src or candidate_texts.input or candidate_texts.nbest)
    require(request.prune is None or has_source, "--prune needs --src")
    with sinks.opened_if_wanted(request.output, stream) as results, ExitStack() as stack:
        lists = texts.candidates(candidate_texts)
        from matese.choosing import mbr, utilities

        utility = utilities.of_chrf(is_aggregated=request.aggregate)
        used = []
        if request.utility == "model":
            n_pairs = sum(len(set(candidates.texts)) ** 2 for candidates in lists)
            used.append(stack.enter_context(annotators.loaded(request.loading, n_pairs)))
            utility = utilities.of_model(used[0], is_aggregated=request.aggregate)
        signature = f"matese|choice:mbr|{utility.signature}"
        pruned = mbr.without_pruning(lists)
        if request.prune is not None:
            n_texts = sum(len(candidates.texts) for candidates in lists)
            pruner = stack.enter_context(
                annotators.loaded(replace(request.loading, model=request.prune_model), n_texts)
            )
            used.append(pruner)
            pruned = mbr.pruning(lists, pruner, request.prune)
            signature += f"|prune:{request.prune}|by:{pruner.name}"
        choices = mbr.choose(pruned, utility)
        if results is None:
            return tuple(choices)
        sinks.write_choices(choices, len(lists), results, form, signature)
        for annotator in used:
            notices.info(*annotator.counts.notices)
    return ()
