"""A thousand mutated files; ten thousand: `python -m tests.files.fuzz --count 10000`."""

import pytest

from . import fuzz

pytestmark = pytest.mark.full

COUNT, PARTS = 1000, 2


@pytest.mark.parametrize("part", range(PARTS))
def test_mutated_files_do_not_crash_the_inspection_and_take_little_time(part: int) -> None:
    share = COUNT // PARTS
    report = fuzz.run(share, seed=1, jobs=1, first=part * share)
    assert not report.findings
    assert report.outcomes.total() == share
    # Mutations that break everything, or nothing, try nothing.
    assert report.outcomes["accepted"] > share // 20
    assert report.outcomes["rejected"] > share // 4
