"""Sweeping the store: what no record names goes with --delete; what records name and is gone is told."""

import os
import time
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from catalog.models import Deliverable, Preview
from marketplace.core.errors import DependencyUnavailable
from marketplace.storage import default_storage
from marketplace.storage.local import STAGING, LocalStorage
from tests.callers import said
from tests.factories import DeliverableFactory, PreviewFactory, UserFactory
from vendors.models import Upload
from vendors.services.uploads import new_part_key

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def age(media: Path) -> None:
    """Let two days pass for everything that is stored."""
    for path in media.rglob("*"):
        before = time.time() - 48 * 3600
        os.utime(path, (before, before))


sweep = partial(said, "sweep_objects")


def recorded() -> tuple[Deliverable, Preview]:
    """Return the records of a file and of a preview with a copy, all stored, as is a part of an upload."""
    deliverable = DeliverableFactory()
    preview = PreviewFactory(object_key="previews/one", renditions={"card": {"key": "previews/one.card"}})
    upload = Upload.objects.create(listing=preview.listing, filename="a.zip", size=2, offset=1, expires_at=timezone.now())
    upload.parts = [[new_part_key(upload=upload), 1]]
    upload.save()
    for key in (deliverable.object_key, "previews/one", "previews/one.card", *upload.part_keys):
        default_storage.save_bytes(key, b"x")
    return deliverable, preview


def keys() -> set[str]:
    return {key for folder in ("deliverables/", "previews/", "packages/", "uploads/") for key, _ in default_storage.keys_with_times(folder)}


def test_sweep_changes_nothing_if_files_and_records_agree(media: Path) -> None:
    recorded()
    default_storage.save_bytes("packages/built", b"x")
    age(media)
    before = keys()
    assert sweep("--delete") == "0 files without a record and 0 incomplete objects deleted; 0 files are missing.\n"
    assert keys() == before


def test_files_that_no_record_names_are_listed_and_deleted_on_demand_once_a_day_old(media: Path) -> None:
    recorded()
    kept = keys() | {"deliverables/young"}
    for key in ("deliverables/lost", "previews/lost", "previews/one.large"):
        default_storage.save_bytes(key, b"x")
    age(media)
    # Perhaps its record is being written at this moment.
    default_storage.save_bytes("deliverables/young", b"x")
    before = keys()
    lines = sweep().splitlines()
    assert {line for line in lines if "lost" in line or "large" in line} == {
        "no record, would be deleted: deliverables/lost",
        "no record, would be deleted: previews/lost",
        "no record, would be deleted: previews/one.large",
    }
    assert len(lines) == 4
    assert keys() == before
    assert "no record, deleted: deliverables/lost" in sweep("--delete")
    assert keys() == kept


def test_parts_of_killed_writers_are_deleted_once_a_day_old(media: Path) -> None:
    recorded()
    (media / STAGING).mkdir(parents=True, exist_ok=True)
    (media / STAGING / "old.part").touch()
    age(media)
    (media / STAGING / "young.part").touch()
    assert f"unfinished, would be deleted: {STAGING}/old.part" in sweep()
    sweep("--delete")
    assert [path.name for path in (media / STAGING).iterdir()] == ["young.part"]


def test_younger_files_are_swept_when_nothing_is_uploaded(media: Path) -> None:
    recorded()
    kept = keys()
    default_storage.save_bytes("deliverables/lost", b"x")
    (media / STAGING / "young.part").touch()
    assert sweep("--delete", "--hours", "0").endswith("1 files without a record and 1 incomplete objects deleted; 0 files are missing.\n")
    assert keys() == kept
    assert list((media / STAGING).iterdir()) == []


def test_database_without_a_record_of_any_file_deletes_nothing(media: Path) -> None:
    UserFactory()
    default_storage.save_bytes("deliverables/restored", b"x")
    age(media)
    said = sweep("--delete")
    assert said.startswith("Nothing was deleted: the database has neither deliverables nor previews.\n")
    assert "no record, would be deleted: deliverables/restored" in said
    assert keys() == {"deliverables/restored"}


@pytest.mark.parametrize("hours", ["-1", "nan", "inf", "1e12"])
def test_sweep_with_invalid_hours_is_refused(hours: str) -> None:
    with pytest.raises(CommandError, match="between 0 and"):
        sweep("--hours", hours)


def test_second_sweep_at_the_same_time_finds_nothing_wrong(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded()
    kept = keys()
    for number in range(3):
        default_storage.save_bytes(f"deliverables/lost-{number}", b"x")
    age(media)
    real = LocalStorage.delete
    inner: list[str] = []

    def delete(self: LocalStorage, key: str) -> None:
        if not inner:
            inner.append("")
            inner[0] = sweep("--delete")
        real(self, key)

    monkeypatch.setattr(LocalStorage, "delete", delete)
    assert sweep("--delete").endswith("0 files are missing.\n")
    assert inner[0].startswith("no record, deleted:")
    assert keys() == kept


@pytest.mark.parametrize("words", [(), ("--delete",)])
def test_sweep_reports_records_without_files_and_fails(words: tuple[str, ...]) -> None:
    deliverable, _ = recorded()
    default_storage.delete(deliverable.object_key)
    default_storage.delete("previews/one.card")
    out = StringIO()
    with pytest.raises(CommandError, match="2 files that have a record are missing from the file store") as caught:
        call_command("sweep_objects", *words, stdout=out)
    assert f"no file: {deliverable.object_key}\nno file: previews/one.card\n" in out.getvalue()
    assert caught.value.returncode == 1
    assert Deliverable.objects.filter(pk=deliverable.pk).exists()


def test_file_that_is_stored_after_the_listing_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded()
    monkeypatch.setattr(LocalStorage, "keys_with_times", lambda *_: iter(()))
    assert "0 files are missing" in sweep()


def test_sweep_stops_with_a_message_if_the_store_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> None:
        raise DependencyUnavailable("The file store cannot be reached.")

    monkeypatch.setattr(LocalStorage, "keys_with_times", down)
    with pytest.raises(CommandError, match="cannot be reached") as caught:
        sweep("--delete")
    assert caught.value.returncode == 2


def test_many_files_are_swept_in_batches(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vendors.services.sweeping.BATCH", 3)
    recorded()
    kept = keys()
    for number in range(8):
        default_storage.save_bytes(f"deliverables/lost-{number}", b"x")
    age(media)
    assert sweep("--delete").endswith("8 files without a record and 0 incomplete objects deleted; 0 files are missing.\n")
    assert keys() == kept
