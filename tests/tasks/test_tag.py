"""What `matese tag` does, from Python: what is marked, in which order, how much of it, and the same run again."""

from __future__ import annotations

from pathlib import Path

import pytest

import matese
from matese.errors import ModelError, UsageError
from matese.finished_work import FinishedWork
from matese.formats.tables import jsonl
from matese.tasks import notices, tag
from matese.tasks.tag import Request
from matese.validation.options import make

HYPOTHESES = ("Das ist gut.", "", "der Text [a 你好!", "der Text der Text der Text")
REFERENCES = ("Das ist schlecht.", "etwas", "ein Text", "Das ist schlecht, 21 Tage.")


@pytest.fixture
def request_(tmp_path: Path, tiny_model_dir: Path) -> Request:
    """A request for two systems."""
    for name, lines in (("a", HYPOTHESES), ("b", HYPOTHESES[::-1]), ("ref", REFERENCES)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Request(
        matese.TextFiles([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")], ref=[str(tmp_path / "ref.txt")]),
        marking=matese.Marking(str(tiny_model_dir), computing=matese.Computing(precision="float32", threads=1)),
    )


def varied(request: Request, **changes: object) -> Request:
    """Returns a request with other options, also of its groups."""
    return make(Request, request.given() | changes)


def texts(tagged: tag.Tagged) -> list[str]:
    return [rating.segment.hypothesis for rating in tagged.ratings]


def test_all_segments_of_all_systems_are_marked(request_: Request) -> None:
    tagged = tag.run(request_)
    assert texts(tagged) == [*HYPOTHESES, *reversed(HYPOTHESES)]
    assert [(summary.system, summary.n_segments) for summary in tagged.systems] == [("a", 4), ("b", 4)]


def test_the_function_takes_the_fields(request_: Request) -> None:
    tagged = matese.tag(request_.texts, marking=request_.marking)
    assert tagged.ratings == tag.run(request_).ratings


def test_limit_of_each_system(request_: Request) -> None:
    assert texts(tag.run(varied(request_, limit=1))) == [HYPOTHESES[0], HYPOTHESES[-1]]


def test_worst_come_first(request_: Request) -> None:
    tagged = tag.run(varied(request_, sort="worst", limit=3))
    for system in ("a", "b"):
        of_system = [rating for rating in tagged.ratings if rating.segment.key and rating.segment.key.system == system]
        assert of_system == matese.worst_first(of_system)
        assert len(of_system) == 3


def test_parts_are_together_the_whole(request_: Request) -> None:
    parts = [tag.run(varied(request_, shard=(number, 3))).ratings for number in (1, 2, 3)]
    assert [rating for part in parts for rating in part] == tag.run(request_).ratings


def test_checks_beside_a_model_and_alone(request_: Request) -> None:
    alone = tag.run(varied(request_, checks="only"))
    also = tag.run(varied(request_, checks="also"))
    without = tag.run(request_)
    assert any(rating.errors for rating in alone.ratings)
    for by_rules, both, marked in zip(alone.ratings, also.ratings, without.ratings, strict=True):
        assert len(both.all_errors) <= len(by_rules.all_errors) + len(marked.all_errors)
        assert both.rater is not None
    assert also.ratings != without.ratings


def test_only_errors(request_: Request) -> None:
    tagged = tag.run(varied(request_, checks="only", only_errors=True))
    assert 0 < len(tagged.ratings) < 2 * len(HYPOTHESES)
    assert all(rating.all_errors for rating in tagged.ratings)


class StopError(Exception):
    """Stands for whatever ends a process."""


def test_the_same_request_resumes(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    output = tmp_path / "out.jsonl"
    wanted = tag.run(request_).ratings
    asked = varied(request_, output=str(output))
    keep = FinishedWork.put

    def stop_after_three(self: FinishedWork, *arguments: str) -> None:
        if self.n_results == 3:
            raise StopError
        keep(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(FinishedWork, "put", stop_after_three)
        with pytest.raises(StopError):
            tag.run(asked)
    assert not output.exists()
    tagged = tag.run(varied(asked, batch_tokens=64))  # which changes no rating
    assert "resuming after 3 segments" in caplog.text
    assert tagged.ratings == []
    assert tagged.systems[1].n_segments == len(HYPOTHESES)
    assert list(jsonl.read(output)) == wanted


def test_notices_reach_a_listener(request_: Request) -> None:
    class Listener(notices._Logger):
        def info(self, *texts: str) -> None:
            said.extend(texts)

    said: list[str] = []
    with notices.heard_by(Listener()):
        tag.run(varied(request_, output=f"{request_.texts.hyp[0]}.jsonl", limit=1))
    assert "2 of 8 segments are written (--limit)" in said


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"tokens": True}, UsageError),
        ({"checks": "only", "error_free": True}, UsageError),
        ({"checks": "only", "uncertainty": "references"}, UsageError),
        ({"format": "xliff"}, UsageError),
        ({"annotator": "gpt"}, UsageError),
        ({"base_url": "http://localhost"}, UsageError),
        ({"input": "a.csv"}, UsageError),
        ({"model": "maxi"}, ModelError),
    ],
)
def test_options_that_do_not_fit_together(request_: Request, changes: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        tag.run(varied(request_, **changes))
