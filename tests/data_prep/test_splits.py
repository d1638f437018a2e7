from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep import splits
from matese.annotation import Segment, SegmentKey


def segment(source: str, *references: str, test_set: str = "t", lang_pair: str = "en-de") -> Segment:
    return Segment("h", source, references, SegmentKey(test_set, lang_pair))


MANY = [segment(f"source {number}", f"reference {number}") for number in range(200)]


@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("Late Night", " late  night. ", True),
        ('"He said so,"', "“He said so”", True),
        ('""No""', '"No"', True),
        ("ﬁne", "FINE", True),
        ("…", "...", True),
        ("？！", "?!", True),
        ("can't", "cannot", False),
        ("5", "6", False),
        ("!", "?", False),
        ("é", "e", False),
        ("की", "का", False),
        ("", "a", False),
        ("1.5", "1.6", False),
    ],
)
def test_texts_that_are_one_or_two(one: str, other: str, are_one: bool) -> None:
    assert (splits.fingerprint(one) == splits.fingerprint(other)) is are_one


def test_a_hash_stays_what_it_was() -> None:
    # The committed list is of no use if it changes: printf latenighthost | sha256sum.
    assert splits.fingerprint('""Late Night"" host') == "593a9cef5c386bef"


def test_a_tenth_of_the_sources_is_held_out() -> None:
    held_out = splits.draw(MANY, seed=0)
    assert sum(held_out.covers(each) for each in MANY) == 20
    assert len(held_out.hashes) == 40


def test_seed_and_number_give_other_splits_and_the_same_ones_again() -> None:
    drawn = [splits.draw(MANY, seed=seed, number=number) for seed in (0, 1) for number in (1, 2)]
    assert len({held_out.hashes for held_out in drawn}) == 4
    assert splits.draw(MANY[::-1], seed=0) == drawn[0]


def test_each_test_set_gives_its_share() -> None:
    second_set = [segment(f"quelle {number}", test_set="u", lang_pair="de-en") for number in range(50)]
    held_out = splits.draw([*MANY, *second_set], seed=0)
    assert sum(held_out.covers(each) for each in second_set) == 5
    assert splits.draw(MANY, seed=0).hashes <= held_out.hashes, "what is held out stays when other data come"


def test_translations_of_one_another_are_on_one_side() -> None:
    # The talks of zh-en are those of en-de translated, and en-ru shares their English too.
    talks = [
        each
        for number in range(40)
        for each in (
            segment(f"english {number}", f"deutsch {number}"),
            segment(f"中文 {number}", f"English {number}!", f"other english {number}", lang_pair="zh-en"),
            segment(f"english {number}", lang_pair="en-ru"),
        )
    ]
    held_out = splits.draw(talks, seed=0)
    sides = [[held_out.covers(each) for each in talks[first : first + 3]] for first in range(0, len(talks), 3)]
    assert sorted(sides) == [[False] * 3] * 36 + [[True] * 3] * 4
    assert all((f"other english {number}" in held_out) == side[0] for number, side in enumerate(sides))


def test_test_sets_are_held_out_with_what_they_share_a_text_with() -> None:
    shared = segment("source 7", "another reference", test_set="test")
    held_out = splits.draw(MANY, always=[shared], seed=0, share=0)
    assert [each for each in MANY if held_out.covers(each)] == [MANY[7]]
    assert "reference 7" in held_out
    assert "another reference" in held_out


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghXYZ"), max_size=2)), max_size=12),
    st.floats(0, 1),
)
def test_no_text_is_on_two_sides(pairs: list[tuple[str, list[str]]], share: float) -> None:
    segments = [segment(source, *references) for source, references in pairs]
    held_out = splits.draw(segments, seed=1, share=share)
    sides = [
        {text for each in segments if held_out.covers(each) is side for text in splits.texts_of(each)}
        for side in (True, False)
    ]
    assert sides[0].isdisjoint(sides[1])


def test_blank_texts_hold_nothing_out() -> None:
    blank = [segment(" ", ""), Segment("h", None, ("",))]
    assert splits.draw(blank, seed=0, share=1).hashes == frozenset()
    assert not any(splits.draw(MANY, seed=0, share=1).covers(each) for each in blank)


def test_a_list_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    held_out = splits.draw(MANY, seed=0)
    path.write_text("".join(f"{line}\n" for line in sorted(held_out.hashes)))
    assert splits.read_held_out(path) == held_out


@pytest.mark.parametrize("line", ["source one", "593a9cef5c386be", "593A9CEF5C386BEF"])
def test_a_line_that_is_no_hash(tmp_path: Path, line: str) -> None:
    path = tmp_path / "list.txt"
    path.write_text(f"593a9cef5c386bef\n{line}\n")
    with pytest.raises(ValueError, match=rf"list.txt:2: '{line}' is not a hash: must be 16 hex digits"):
        splits.read_held_out(path)


def test_the_committed_lists_are_sorted_and_disjoint() -> None:
    lines = splits.COMMITTED.read_text().splitlines()
    assert lines == sorted(set(lines))
    wmt24 = splits.COMMITTED_WMT24.read_text().splitlines()
    assert wmt24 == sorted(line for line in wmt24 if int(line, 16) % 3 == 0)
    assert len(splits.committed().hashes) == len(lines) + len(wmt24)
    assert len(lines) > 5_000
    assert len(wmt24) > 200
    assert not splits.is_held_out("A sentence that no test set has: the gnu knew two new canoes.")
