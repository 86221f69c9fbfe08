"""The board where processes learn the present generation: changes that do not reach it, boards that come and go, damaged files."""

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as project
from django.core.cache import caches
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from catalog.models import CatalogGeneration
from catalog.services import boards, fence, generation
from catalog.services.boards import SharedFile
from tests.factories import PublishedListingFactory

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

RENAME = """
import django; django.setup()
from django.db import transaction
from catalog.models import Listing
from catalog.services.visibility import listing_changed
with transaction.atomic():
    Listing.objects.update(title="Antiqua")
    listing_changed(Listing.objects.get())
"""


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What changes waited; they do not really."""
    found: list[float] = []
    monkeypatch.setattr(fence, "time", SimpleNamespace(sleep=found.append, monotonic=time.monotonic))
    return found


@pytest.fixture
def elsewhere(tmp_path: Path, settings: Any) -> Callable[[Callable[[], object]], object]:
    """Do something as a process on another machine would, which has another file."""

    def run(work: Callable[[], object]) -> object:
        here, settings.DATA_DIR = settings.DATA_DIR, tmp_path
        try:
            return work()
        finally:
            settings.DATA_DIR = here

    return run


@pytest.fixture
def posted() -> int:
    """The generation, which readers learn without a query."""
    generation.bump()
    now = generation.current()
    assert board().look(())[0] == now
    return now


def board() -> SharedFile:
    found = boards.board_of("answers")
    assert isinstance(found, SharedFile)
    return found


def test_change_by_a_command_in_another_process_shows_in_the_next_answer() -> None:
    PublishedListingFactory(title="Grotesk")
    client, database = Client(), connection.settings_dict

    def titles() -> list[str]:
        return [item["title"] for item in client.get("/api/v1/assets").json()["items"]]

    assert (titles(), titles()) == (["Grotesk"], ["Grotesk"])
    address = f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    env = dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded",
        "DATABASE_URL": address,
        "DATA_DIR": str(project.DATA_DIR),
    }
    subprocess.run([sys.executable, "-c", RENAME], env=env, check=True)
    assert titles() == ["Antiqua"]


def test_change_that_does_not_reach_the_board_outlives_what_is_posted(
    posted: int, elsewhere: Any, waits: list[float], django_assert_num_queries: Any
) -> None:
    elsewhere(generation.bump)
    assert waits == [boards.OUTLIVED_SECONDS]
    # What the wait would have let expire.
    board().raise_fence()
    # The name is struck out: nobody waits any more, and every reader asks.
    for change in (1, 2):
        assert generation.current() == posted + change
        with django_assert_num_queries(1):
            assert generation.current() == posted + change
        elsewhere(generation.bump)
    assert len(waits) == 1


def test_name_that_was_struck_out_is_written_again_after_a_while(
    posted: int, elsewhere: Any, waits: list[float], django_assert_num_queries: Any
) -> None:
    elsewhere(generation.bump)
    board().raise_fence()
    CatalogGeneration.objects.update(board_changed=timezone.now() - timedelta(seconds=fence.STRUCK_SECONDS + 1))
    assert generation.current() == posted + 1
    with django_assert_num_queries(0):
        assert generation.current() == posted + 1


def test_board_that_takes_over_counts_only_once_the_other_is_outlived(
    posted: int, elsewhere: Any, waits: list[float], django_assert_num_queries: Any
) -> None:
    def rows_read() -> int:
        with django_assert_num_queries(1):
            return generation.current()

    # Too soon: the other board may be read by many.
    assert [elsewhere(rows_read) for _ in range(2)] == [posted] * 2
    CatalogGeneration.objects.update(board_changed=timezone.now() - timedelta(seconds=fence.STANDS_SECONDS + 1))
    elsewhere(generation.current)
    assert fence.TAKEN in CatalogGeneration.objects.get().board
    assert elsewhere(rows_read) == posted
    elsewhere(generation.bump)
    # The old board's states may be valid still.
    assert waits == [boards.OUTLIVED_SECONDS]
    CatalogGeneration.objects.update(board_changed=timezone.now() - timedelta(seconds=boards.OUTLIVED_SECONDS + 1))
    elsewhere(generation.current)
    with django_assert_num_queries(0):
        assert elsewhere(generation.current) == posted + 1
    elsewhere(generation.bump)
    assert len(waits) == 1


def test_process_without_a_board_asks_the_row_and_its_changes_wait(
    posted: int, waits: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any, django_assert_num_queries: Any
) -> None:
    here = board()
    settings.DATA_DIR = tmp_path / "missing"
    monkeypatch.setattr(boards, "BOOT_ID", tmp_path / "none")
    assert generation.board() is None
    with django_assert_num_queries(1):
        assert generation.current() == posted
    generation.bump()
    assert waits == [boards.OUTLIVED_SECONDS]
    here.raise_fence()


def test_shared_cache_and_file_do_not_pass_for_each_other(posted: int, redis_cache: str, waits: list[float]) -> None:
    assert "answers" not in caches.settings
    generation.bump()
    assert (waits, generation.current()) == ([boards.OUTLIVED_SECONDS], posted + 1)


def test_copy_of_a_file_is_another_board(tmp_path: Path) -> None:
    first = SharedFile(tmp_path / "first")
    shutil.copy(tmp_path / "first", tmp_path / "second")
    assert SharedFile(tmp_path / "first").name == first.name
    assert SharedFile(tmp_path / "second").name != first.name


def test_file_of_before_the_last_start_of_the_machine_is_another_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = SharedFile(tmp_path / "file").name
    (tmp_path / "boot").write_text("another")
    monkeypatch.setattr(boards, "BOOT_ID", tmp_path / "boot")
    assert SharedFile(tmp_path / "file").name != before


def test_state_of_two_who_posted_at_once_counts_for_nothing(tmp_path: Path) -> None:
    one, other = SharedFile(tmp_path / "file"), SharedFile(tmp_path / "file")
    one.post(one.fence(), 7, 0)
    assert other.look(()) == (7, {})
    # Half of it is another's.
    place = SharedFile._STATE.start + 8
    one._memory[place : place + 8] = struct.pack("<q", 6)
    assert (one.look(()), other.look(())) == ((None, {}), (None, {}))


def test_state_expires_and_late_ones_are_never_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SharedFile(tmp_path / "file")
    file.post(file.fence(), 7, boards.STATE_SECONDS + 0.1)
    assert file.look(())[0] is None
    file.post(file.fence(), 7, 0)
    assert file.look(())[0] == 7
    now = boards._clock()
    monkeypatch.setattr(boards, "_clock", lambda: now + boards.STATE_SECONDS + 1)
    assert file.look(())[0] is None


def test_state_under_an_old_fence_is_void(tmp_path: Path) -> None:
    file = SharedFile(tmp_path / "file")
    before = file.fence()
    file.raise_fence()
    file.post(before, 7, 0)
    assert file.look(())[0] is None


def test_file_that_somebody_cut_short_is_no_board(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(ValueError, match="mmap"):
        SharedFile(tmp_path / "file")


@pytest.fixture(autouse=True)
def _files_are_opened_anew() -> Iterator[None]:
    yield
    boards._file.cache_clear()
    connections.close_all()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("redis://host:6379/0", "redis://joe:secret@host:6379/0", True),
        ("redis://host:6379/0", "redis://host:6379/1", False),
        ("redis://host:6379?db=0", "redis://host:6379?db=1", False),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=1&socket_timeout=2", True),
        ("unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=2", False),
    ],
)
def test_databases_of_one_server_are_boards_of_their_own(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert (boards._address(one) == boards._address(other)) is same
