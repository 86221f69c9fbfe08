"""A short upload for every run of the suite; `python -m tests.faults.resuming` is the long one."""

from pathlib import Path

import pytest

from .resuming import MIB, MOST_SENT, run

pytestmark = pytest.mark.full


@pytest.mark.parametrize("store", ["local", pytest.param("s3", marks=pytest.mark.s3)])
def test_upload_by_a_tus_client_that_is_cut_twice_arrives(store: str, tmp_path: Path) -> None:
    # Parts of 5 MiB: what is lost at each cut is less than one of them.
    found = run(tmp_path, store=store, mib=110, cuts=2, seed=1, part_bytes=5 * MIB)
    assert (found.arrived, found.cuts) == (True, 2)
    assert found.sent <= MOST_SENT * found.size
