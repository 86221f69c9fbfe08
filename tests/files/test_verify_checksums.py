"""Verifying what is stored: every difference is listed, what is intact is noted, and a stopped run goes on."""

import hashlib
from datetime import timedelta
from functools import partial
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from catalog.models import Deliverable, FormerPreview, Preview, StorePicture
from library.models import Package
from marketplace.core.errors import DependencyUnavailable
from marketplace.operations.backups import PREFIXES
from marketplace.storage import default_storage
from marketplace.storage.local import LocalStorage
from marketplace.storage.s3 import S3Storage
from tests.callers import said
from tests.factories import ListingFactory, PreviewFactory, StoreFactory
from vendors.management.commands import verify_checksums
from vendors.services.files import STORED_MODELS, keys_of
from vendors.services.verifying import StoredState, state_of, verify

from .helpers import recorded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media")]


run = partial(said, "verify_checksums")


def failed(*words: str) -> tuple[int, list[str]]:
    """Return the exit status and the lines of a run that fails."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("verify_checksums", *words, stdout=out)
    return caught.value.returncode, out.getvalue().splitlines()


def shown() -> Preview:
    """Return the record of a stored preview with a copy."""
    copy = {"key": "previews/one.card", "size": 4, "sha256": hashlib.sha256(b"copy").hexdigest()}
    default_storage.save_bytes("previews/one", b"image")
    default_storage.save_bytes("previews/one.card", b"copy")
    return PreviewFactory(object_key="previews/one", size=5, sha256=hashlib.sha256(b"image").hexdigest(), renditions={"card": copy})


@pytest.mark.parametrize("words", [("--limit", "0"), ("--rate", "-1"), ("--since", "soon")])
def test_invalid_options_of_verify_checksums_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run(*words)


def test_sound_files_are_noted_and_counted() -> None:
    file, preview = recorded(), shown()
    assert run().startswith("2 records: 2 intact, 0 missing, 0 different, 0 unreadable; 0.0 MiB read")
    for row in (file, preview):
        row.refresh_from_db()
        assert row.verified_at is not None
    assert file.fingerprint == default_storage.fingerprint(file.object_key)


def test_pictures_of_a_store_and_replaced_pictures_are_verified() -> None:
    picture = {"content_type": "image/webp", "size": 5, "sha256": hashlib.sha256(b"image").hexdigest()}
    copy = {"key": "stores/one.card", "size": 4, "sha256": hashlib.sha256(b"copy").hexdigest()}
    logo = StorePicture.objects.create(store=StoreFactory(), kind="Logo", object_key="stores/one", renditions={"card": copy}, **picture)
    FormerPreview.objects.create(listing=ListingFactory(), object_key="previews/former", **picture)
    default_storage.save_bytes("stores/one", b"image")
    default_storage.save_bytes("stores/one.card", b"c0py")
    default_storage.save_bytes("previews/former", b"1mage")
    _, lines = failed()
    assert [line.split(" (")[0] for line in lines[:-1]] == ["different: stores/one", "different: previews/former"]
    assert lines[0].endswith(f"of {logo.store.slug})")


def test_every_model_with_a_stored_file_is_verified() -> None:
    named = {model for model in apps.get_models() if "object_key" in {field.name for field in model._meta.get_fields()}}
    # Packages are built from the others, and are built again where they are gone.
    assert named == {*STORED_MODELS, Package}
    kept = {key for row in (recorded(), shown()) for key in keys_of(row)}
    assert all(key.startswith(PREFIXES) for key in kept)


@pytest.mark.slow
def test_every_difference_is_listed_and_not_noted() -> None:
    longer, changed, gone, fine = (recorded(bytes([number]) * 9) for number in range(4))
    preview = shown()
    default_storage.save_bytes(longer.object_key, b"\0" * 10)
    default_storage.save_bytes(changed.object_key, b"\1" * 8 + b"x")
    default_storage.delete(gone.object_key)
    default_storage.delete("previews/one.card")
    status, lines = failed()
    assert status == 1
    assert [line.split(" (")[0] for line in lines[:-1]] == [
        f"different: {longer.object_key}",
        f"different: {changed.object_key}",
        f"missing: {gone.object_key}",
        "missing: previews/one",
    ]
    assert lines[0].endswith(f"(deliverable {longer.pk} of {longer.listing.slug})")
    assert lines[-1].startswith("5 records: 1 intact, 2 missing, 2 different, 0 unreadable")
    assert list(Deliverable.objects.filter(verified_at__isnull=False)) == [fine]
    preview.refresh_from_db()
    assert preview.verified_at is None


@pytest.mark.slow
def test_stopped_run_goes_on_with_the_same_date() -> None:
    files = [recorded(bytes([number])) for number in range(5)]
    since = timezone.now().isoformat()
    for _ in range(2):
        assert run("--since", since, "--limit", "2").startswith("2 records: 2 intact")
    assert run("--since", since).startswith("1 records: 1 intact")
    assert run("--since", since).startswith("0 records")
    assert Deliverable.objects.filter(verified_at__isnull=False).count() == len(files)


def test_verification_begins_with_the_longest_unverified_files() -> None:
    old, new, never = recorded(b"1"), recorded(b"2"), recorded(b"3")
    Deliverable.objects.filter(pk=old.pk).update(verified_at=timezone.now() - timedelta(days=90))
    Deliverable.objects.filter(pk=new.pk).update(verified_at=timezone.now() - timedelta(days=9))
    run("--limit", "2")
    week = timezone.now() - timedelta(days=7)
    assert set(Deliverable.objects.filter(verified_at__gt=week)) == {old, never}


def test_limited_runs_reach_the_files_of_every_model() -> None:
    files, preview = [recorded(b"1"), recorded(b"2")], shown()
    for _ in range(2):
        run("--limit", "2")
    preview.refresh_from_db()
    assert preview.verified_at is not None
    Preview.objects.update(verified_at=timezone.now() - timedelta(days=9))
    Deliverable.objects.filter(pk=files[0].pk).update(verified_at=timezone.now() - timedelta(days=8))
    assert run("--since", (timezone.now() - timedelta(days=7)).isoformat(), "--limit", "1").startswith("1 records")
    preview.refresh_from_db()
    assert preview.verified_at > timezone.now() - timedelta(days=7)


def test_verification_keeps_to_the_given_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(b"x" * 2**20)
    waits: list[float] = []
    # The clock stands: the reading took no time.
    monkeypatch.setattr(verify_checksums, "time", SimpleNamespace(sleep=waits.append, monotonic=lambda: 0.0))
    run("--rate", "1")
    assert waits == [0.25, 0.5, 0.75, 1]


def test_file_that_is_replaced_while_it_is_read_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    file = recorded()
    default_storage.delete(file.object_key)
    monkeypatch.setattr(verify_checksums, "verify", lambda row, **_: (row.delete(), StoredState.MISSING)[1])
    assert run().startswith("0 records")


def test_file_that_cannot_be_read_is_listed_and_the_others_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, _ = recorded(b"1"), recorded(b"2")
    real = LocalStorage.read

    def read(self: LocalStorage, key: str, *args: Any) -> Any:
        if key == bad.object_key:
            raise DependencyUnavailable("The file store cannot be used at the moment.")
        return real(self, key, *args)

    monkeypatch.setattr(LocalStorage, "read", read)
    status, lines = failed()
    assert (status, lines[0].split(" (")[0]) == (1, f"unreadable: {bad.object_key}")
    assert lines[1].startswith("2 records: 1 intact")


@pytest.mark.slow
def test_verification_stops_with_a_message_if_the_store_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> None:
        raise DependencyUnavailable("The file store cannot be reached.")

    for number in range(5):
        recorded(bytes([number]))
    monkeypatch.setattr(LocalStorage, "fingerprint", down)
    status, lines = failed()
    assert status == 2
    assert len(lines) == 2


def test_file_that_was_copied_back_is_read_once_and_one_that_nobody_wrote_to_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    file = recorded()
    assert verify(row=file) == StoredState.INTACT
    file.refresh_from_db()
    with monkeypatch.context() as unread:
        unread.setattr(LocalStorage, "read", None)
        assert state_of(file) == StoredState.INTACT
    default_storage.save_bytes(file.object_key, b"content")
    before = file.fingerprint
    assert state_of(file) == StoredState.INTACT
    file.refresh_from_db()
    assert file.fingerprint != before
    monkeypatch.setattr(LocalStorage, "read", None)
    assert state_of(file) == StoredState.INTACT


@pytest.mark.s3
def test_verification_finds_changed_and_missing_objects_on_s3(s3_store: S3Storage) -> None:
    file = recorded(b"first")
    assert run().startswith("1 records: 1 intact")
    s3_store.save_bytes(file.object_key, b"other")
    assert failed()[0] == 1
    s3_store.delete(file.object_key)
    assert failed()[0] == 1
