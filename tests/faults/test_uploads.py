"""A short series for every run of the suite; `python -m tests.faults.uploads` is the long one."""

from pathlib import Path

import pytest

from .series import MIB, Report
from .uploads import run

pytestmark = pytest.mark.full


def test_killed_cut_and_starved_uploads_leave_nothing_in_a_folder(tmp_path: Path) -> None:
    judge(run(tmp_path, store="local", count=3, seed=3, sizes=(MIB, 4 * MIB)))


@pytest.mark.s3
def test_killed_cut_and_starved_uploads_leave_nothing_on_s3(tmp_path: Path) -> None:
    # The second part of an upload begins at 8 MiB.
    judge(run(tmp_path, store="s3", count=3, seed=3, sizes=(9 * MIB, 12 * MIB)))


def judge(report: Report) -> None:
    assert report.broken == []
    # Where no disk can be made, none is filled.
    assert report.tried.total() == 3
    assert report.accepted["full"] == 0
