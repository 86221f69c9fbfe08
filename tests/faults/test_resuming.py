"""A short upload for every run of the suite; `python -m tests.faults.resuming` is the long one."""

from pathlib import Path

import pytest

from vendors.bounds import MIN_PART_BYTES

from .resuming import run

pytestmark = [pytest.mark.full, pytest.mark.s3]
HEADERS_BYTES = 2**16


def test_upload_by_a_tus_client_that_is_cut_twice_arrives(tmp_path: Path) -> None:
    found = run(tmp_path, store="s3", mib=22, cuts=2, seed=1, part_bytes=MIN_PART_BYTES)
    assert (found.arrived, found.cuts) == (True, 2)
    # What is lost at each cut is less than a part.
    assert found.size < found.sent < found.size + 2 * MIN_PART_BYTES + HEADERS_BYTES
