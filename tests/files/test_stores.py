import errno
import io
import os
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage
from storages.backends.s3 import S3Storage

from marketplace.core.errors import DependencyUnavailable
from marketplace.core.objects import object_store, s3
from marketplace.core.objects.base import BLOCK_BYTES, ObjectMissing, ObjectStore
from marketplace.core.objects.local import STAGING, LocalStore
from marketplace.core.objects.s3 import PART_BYTES, S3Store, S3Writer
from tests.servers.s3 import S3Server
from tests.waiting import PATIENCE_SECONDS

from .helpers import put

MIB = 2**20


def files_under(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "A", "a b", ".hidden", "a/.staging", "a\x00", "a" * 201]
)
def test_key_that_is_not_ours_stops(local_store: LocalStore, key: str) -> None:
    for act in (local_store.create, local_store.read, local_store.size, local_store.delete):
        with pytest.raises(ValueError, match="not an object key"):
            act(key)


def test_missing_object_is_told_at_once(store: ObjectStore) -> None:
    for act in (store.read, store.size):
        with pytest.raises(ObjectMissing):
            act("deliverables/missing")


def test_missing_object_can_be_deleted(store: ObjectStore) -> None:
    store.delete("deliverables/missing")


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, 34 * MIB + 1])
def test_object_reads_as_it_was_written(store: ObjectStore, size: int) -> None:
    content = os.urandom(size)
    writer = store.create("deliverables/one")
    for position in range(0, size, BLOCK_BYTES):
        writer.write(content[position : position + BLOCK_BYTES])
    writer.commit()
    writer.abort()
    blocks = list(store.read("deliverables/one"))
    assert b"".join(blocks) == content
    assert all(0 < len(block) <= BLOCK_BYTES for block in blocks)
    assert store.size("deliverables/one") == size
    store.delete("deliverables/one")


@pytest.mark.parametrize(("start", "end"), [(0, None), (0, 5), (5, 9), (300_000, None), (7, 7), (0, 400_000)])
def test_stretch_of_an_object_is_read(store: ObjectStore, start: int, end: int | None) -> None:
    content = os.urandom(400_000)
    put(store, "deliverables/one", content)
    assert b"".join(store.read("deliverables/one", start, end)) == content[start:end]


def test_object_is_invisible_before_commit(store: ObjectStore) -> None:
    store.delete("deliverables/one")
    writer = store.create("deliverables/one")
    writer.write(b"x" * MIB)
    with pytest.raises(ObjectMissing):
        store.size("deliverables/one")
    writer.abort()
    writer.abort()
    with pytest.raises(ObjectMissing):
        store.size("deliverables/one")


def test_second_commit_replaces_the_whole_object(store: ObjectStore) -> None:
    put(store, "packages/one", b"first and longer")
    put(store, "packages/one", b"second")
    assert b"".join(store.read("packages/one")) == b"second"


def test_deleted_object_is_gone(store: ObjectStore) -> None:
    put(store, "deliverables/one", b"x")
    store.delete("deliverables/one")
    with pytest.raises(ObjectMissing):
        store.read("deliverables/one")


def test_fingerprint_changes_with_the_content(store: ObjectStore) -> None:
    put(store, "deliverables/one", b"one")
    first = store.fingerprint("deliverables/one")
    assert store.fingerprint("deliverables/one") == first
    put(store, "deliverables/one", b"two")
    assert store.fingerprint("deliverables/one") != first


def test_empty_folder_has_no_keys(store: ObjectStore) -> None:
    assert list(store.keys("nothing/")) == []


def test_keys_of_a_folder_are_listed_with_their_time(store: ObjectStore) -> None:
    for key in ("listed/one", "listed/two.card", "other/three"):
        put(store, key, b"x")
    store.create("listed/unfinished").abort()
    found = dict(store.keys("listed/"))
    assert found.keys() == {"listed/one", "listed/two.card"}
    # The store's clock may count whole seconds.
    assert all(abs(datetime.now(tz=UTC) - at) < timedelta(minutes=1) for at in found.values())
    for key in found:
        store.delete(key)
    assert list(store.keys("listed/")) == []


def test_file_of_others_in_a_folder_is_no_key(local_store: LocalStore) -> None:
    put(local_store, "previews/one", b"x")
    (local_store.root / "previews" / ".DS_Store").touch()
    (local_store.root / "previews" / "Notes.txt").touch()
    assert [key for key, _ in local_store.keys("previews/")] == ["previews/one"]


@pytest.mark.s3
def test_unfinished_upload_is_listed_and_can_be_removed(s3_store: S3Store) -> None:
    writer = s3_store.create("deliverables/killed")
    for _ in range(3):
        writer.write(b"x" * (8 * MIB))
    (part,) = s3_store.unfinished()
    assert part.name == "upload of deliverables/killed"
    assert abs(datetime.now(tz=UTC) - part.since) < timedelta(minutes=1)
    # The part under way is waited for, as a killed writer's would have ended.
    writer._close()
    part.remove()
    part.remove()
    assert list(s3_store.unfinished()) == []


@pytest.mark.usefixtures("named_parts")
def test_unfinished_part_is_listed_and_can_be_removed(local_store: LocalStore) -> None:
    writer = local_store.create("deliverables/killed")
    (part,) = local_store.unfinished()
    assert part.name.startswith(f"{STAGING}/")
    part.remove()
    part.remove()
    assert list(local_store.unfinished()) == []
    writer.abort()


def test_aborted_local_object_leaves_no_file(local_store: LocalStore) -> None:
    writer = local_store.create("deliverables/one")
    writer.write(b"x")
    writer.abort()
    assert files_under(local_store.root) == []


@pytest.fixture
def named_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without nameless files."""
    real = os.open

    def refuse(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "no nameless files here")
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)


@pytest.mark.usefixtures("named_parts")
def test_store_without_nameless_files_works_alike(local_store: LocalStore) -> None:
    put(local_store, "deliverables/one", b"content")
    writer = local_store.create("deliverables/two")
    writer.write(b"x")
    assert len(files_under(local_store.root / STAGING)) == 1
    writer.abort()
    assert files_under(local_store.root) == [local_store.root / "deliverables/one"]
    assert b"".join(local_store.read("deliverables/one")) == b"content"


@pytest.mark.usefixtures("named_parts")
def test_part_of_a_killed_process_is_swept_after_a_day(local_store: LocalStore) -> None:
    local_store.create("deliverables/one").abort()
    old, young = local_store.root / STAGING / "old.part", local_store.root / STAGING / "young.part"
    old.touch()
    young.touch()
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    local_store.create("deliverables/one").abort()
    assert (old.exists(), young.exists()) == (False, True)


def test_full_disk_is_an_unavailable_store(local_store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = local_store.create("deliverables/one")

    def full(fd: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DependencyUnavailable):
        writer.write(b"x")
    writer.abort()


def test_disk_that_is_full_only_at_the_close_is_unavailable(local_store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = local_store.create("deliverables/one")
    real = os.close

    def full(descriptor: int) -> None:
        real(descriptor)
        raise OSError(errno.EDQUOT, "quota exceeded")

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", full)
        with pytest.raises(DependencyUnavailable):
            writer.commit()
    # The descriptor may be another file's by now.
    writer.abort()
    assert files_under(local_store.root) == []


def test_bad_sector_is_an_unavailable_store(local_store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put(local_store, "deliverables/one", b"x")
    blocks = local_store.read("deliverables/one")

    class Bad(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(blocks, "_file", Bad())
    with pytest.raises(DependencyUnavailable):
        next(blocks)


def test_local_files_are_readable_by_us_only(local_store: LocalStore) -> None:
    put(local_store, "deliverables/one", b"x")
    assert (local_store.root / "deliverables/one").stat().st_mode & 0o077 == 0
    assert local_store.presigned_url("deliverables/one", seconds=30, filename="a.zip", content_type="application/zip") is None


def test_settings_choose_the_store(settings: Any) -> None:
    assert object_store().root == settings.MEDIA_ROOT  # type: ignore[attr-defined]  # the local one has a root
    settings.STORAGES = settings.STORAGES | {"default": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
    with pytest.raises(ImproperlyConfigured):
        object_store()


def test_media_root_is_read_at_call_time(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    assert isinstance(object_store(), LocalStore)
    assert Path(FileSystemStorage().location) == tmp_path
    put(object_store(), "previews/one", b"x")
    assert (tmp_path / "previews" / "one").read_bytes() == b"x"


@pytest.mark.s3
def test_aborted_multipart_upload_leaves_no_parts(s3_store: S3Store) -> None:
    writer = s3_store.create("deliverables/one")
    for _ in range(5):
        writer.write(b"x" * (8 * MIB))
    assert s3_store.client.list_multipart_uploads(Bucket=s3_store.bucket).get("Uploads")
    writer.abort()
    assert not s3_store.client.list_multipart_uploads(Bucket=s3_store.bucket).get("Uploads")


@pytest.mark.s3
def test_upload_that_the_store_ended_meanwhile_can_be_aborted(s3_store: S3Store) -> None:
    writer = s3_store.create("deliverables/one")
    writer.write(b"x" * (9 * MIB))
    (part,) = s3_store.unfinished()
    part.remove()
    writer.abort()
    assert list(s3_store.unfinished()) == []


@pytest.mark.s3
@pytest.mark.parametrize("first", [1, PART_BYTES - 1, PART_BYTES, 2 * PART_BYTES + 1])
def test_blocks_of_any_size_fill_equal_parts(s3_store: S3Store, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = S3Writer._put_part

    def put_part(self: S3Writer, number: int, part: bytes) -> str:
        sizes.append(len(part))
        return real(self, number, part)

    monkeypatch.setattr(S3Writer, "_put_part", put_part)
    content = os.urandom(first) + os.urandom(PART_BYTES + 5)
    writer = s3_store.create("deliverables/one")
    writer.write(content[:first])
    writer.write(content[first:])
    writer.commit()
    assert sorted(sizes)[1:] == [PART_BYTES] * (len(content) // PART_BYTES)
    assert b"".join(s3_store.read("deliverables/one")) == content
    s3_store.delete("deliverables/one")


@pytest.mark.s3
def test_production_settings_give_the_s3_store(s3_store: S3Store) -> None:
    assert isinstance(object_store(), S3Store)


def fetch(url: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - our own loopback server
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {}, b""


@pytest.mark.s3
def test_presigned_link_downloads_under_its_name(s3_store: S3Store) -> None:
    put(s3_store, "packages/one", b"package")
    link = s3_store.presigned_url("packages/one", seconds=30, filename='schön".zip', content_type="application/zip")
    status, headers, content = fetch(link or "")
    assert (status, content) == (200, b"package")
    assert headers["Content-Disposition"] == "attachment; filename*=utf-8''sch%C3%B6n%22.zip"
    assert headers["Content-Type"] == "application/zip"


@pytest.mark.s3
def test_tampered_or_expired_presigned_link_is_refused(s3_store: S3Store) -> None:
    put(s3_store, "packages/one", b"package")
    put(s3_store, "packages/two", b"other")
    link = s3_store.presigned_url("packages/one", seconds=1, filename="a.zip", content_type="application/zip") or ""
    assert fetch(link.replace("packages/one", "packages/two"))[0] == 403
    time.sleep(2.1)
    assert fetch(link)[0] == 403


@pytest.mark.s3
def test_presigned_link_names_the_public_address(s3_server: S3Server, s3_store: S3Store, settings: Any) -> None:
    settings.S3_PUBLIC_ENDPOINT_URL = s3_server.endpoint.replace("127.0.0.1", "localhost")
    put(s3_store, "packages/one", b"package")
    link = s3_store.presigned_url("packages/one", seconds=30, filename="a.zip", content_type="application/zip") or ""
    assert urlsplit(link).hostname == "localhost"
    assert fetch(link)[2] == b"package"


@pytest.mark.s3
def test_store_that_is_down_is_unavailable(s3_server: S3Server, s3_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    options = s3_server.storage_options() | {"endpoint_url": "http://127.0.0.1:1"}
    down = S3Store(S3Storage(**options))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(DependencyUnavailable):
        down.size("deliverables/one")
    wrong = S3Store(S3Storage(**s3_server.storage_options() | {"secret_key": "wrong"}))
    with pytest.raises(DependencyUnavailable):
        wrong.read("deliverables/one")


@pytest.mark.parametrize(
    ("head", "start", "end"), [(0, 0, 0), (7, 3, 3), (40, 5, MIB), (40, 0, 11 * MIB), (6 * MIB, 1, 12 * MIB), (40, 0, 24 * MIB)]
)
def test_object_is_put_together_from_bytes_and_a_stored_one(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, head: int, start: int, end: int
) -> None:
    monkeypatch.setattr(s3, "COPIED_PART_BYTES", 8 * MIB)
    content, before, after = os.urandom(24 * MIB), os.urandom(head), os.urandom(100)
    put(store, "deliverables/one", content)
    writer = store.create("packages/one")
    writer.write(before)
    writer.write_object("deliverables/one", start, end)
    writer.write(after)
    writer.commit()
    assert b"".join(store.read("packages/one")) == before + content[start:end] + after


def test_object_from_a_missing_one_leaves_nothing(store: ObjectStore) -> None:
    writer = store.create("hollow/one")
    writer.write(b"head")
    with pytest.raises(ObjectMissing):
        writer.write_object("deliverables/missing", 0, 24 * MIB)
    writer.abort()
    assert not list(store.keys("hollow/"))
    assert not [part for part in store.unfinished() if "hollow" in part.name]


@pytest.mark.s3
def test_large_object_is_copied_by_the_store_itself(s3_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(s3_store, "deliverables/one", os.urandom(40 * MIB))
    passed = []
    read = S3Store.read

    def counted(self: S3Store, key: str, start: int = 0, end: int | None = None) -> Any:
        for block in read(self, key, start, end):
            passed.append(len(block))
            yield block

    monkeypatch.setattr(S3Store, "read", counted)
    writer = s3_store.create("packages/one")
    writer.write(b"head")
    writer.write_object("deliverables/one", 0, 40 * MIB)
    writer.write(b"tail")
    writer.commit()
    assert s3_store.size("packages/one") == 40 * MIB + 8
    assert sum(passed) < 5 * MIB
