"""A thousand mutated files; ten thousand: `python -m tests.files.fuzz --count 10000`."""

import sys
from typing import Any

import pytest

from vendors.sandbox import worker

from . import fuzz

pytestmark = pytest.mark.full

COUNT, PARTS = 1000, 4


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_files_crash_nothing_and_take_no_time(part: int) -> None:
    share = COUNT // PARTS
    report = fuzz.run(share, seed=1, jobs=1, first=part * share)
    assert not report.findings
    assert report.outcomes.total() == share
    # Mutations that break everything, or nothing, try nothing.
    assert report.outcomes["accepted"] > share // 20
    assert report.outcomes["rejected"] > share // 4


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ({"outcome": "crashed", "reason": "IndexError"}, "crashed"),
        ({"outcome": "accepted", "facts": {"a": float("inf")}}, "unkeepable"),
        ({"outcome": "rejected", "reason": "x"}, "rejected"),
    ],
)
def test_what_goes_wrong_is_seen(said: dict[str, Any], outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "run", lambda *_: (said, []))
    assert fuzz._look("inspect", b"x").partition(":")[0] == outcome


def test_process_that_dies_is_a_finding_and_the_others_are_still_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    report = fuzz.run(3, seed=1, jobs=1)
    assert [what for _, what in report.findings] == ["died: 1"] * 3


def test_one_number_makes_one_file() -> None:
    assert fuzz.mutated(1, 7) == fuzz.mutated(1, 7)
    assert fuzz.mutated(1, 7) != fuzz.mutated(2, 7)
