import errno
import io
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from urllib3 import HTTPResponse

from marketplace.core.errors import DependencyUnavailable
from marketplace.storage import default_storage, s3
from marketplace.storage.base import BLOCK_BYTES, ObjectStorage, Segment, StoredRange
from marketplace.storage.local import STAGING, LocalStorage
from marketplace.storage.s3 import PART_BYTES, S3Storage
from tests.servers.s3 import S3Server
from tests.waiting import PATIENCE_SECONDS, until

from .helpers import stored

MIB = 2**20


def writer(store: LocalStorage, key: str) -> Any:
    return store.open(key, "wb")


@pytest.mark.parametrize(
    "key", ["", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "A", "a b", ".hidden", "a/.staging", "a\x00", "a" * 201]
)
def test_invalid_object_key_is_an_error(local_store: LocalStorage, key: str) -> None:
    for act in (partial(local_store.open, mode="wb"), local_store.read, local_store.size, local_store.delete):
        with pytest.raises(ValueError, match="not an object key"):
            act(key)


def test_reading_a_missing_object_raises_at_once(store: ObjectStorage) -> None:
    for act in (store.read, store.size):
        with pytest.raises(FileNotFoundError):
            act("deliverables/missing")


# Of S3 more than one part, of 8 MiB.
@pytest.mark.parametrize("size", [0, BLOCK_BYTES, BLOCK_BYTES + 1, 9 * MIB + 1])
def test_object_reads_as_it_was_written(store: ObjectStorage, size: int) -> None:
    content = os.urandom(size)
    with store.open("deliverables/one", "wb") as file:
        for position in range(0, size, BLOCK_BYTES):
            file.write(content[position : position + BLOCK_BYTES])
    blocks = list(store.read("deliverables/one"))
    assert b"".join(blocks) == content
    assert all(0 < len(block) <= BLOCK_BYTES for block in blocks)
    assert store.size("deliverables/one") == size
    store.delete("deliverables/one")


def test_byte_range_of_an_object_is_read(store: ObjectStorage) -> None:
    content = os.urandom(400_000)
    store.save_bytes("deliverables/one", content)
    for start, end in ((0, None), (0, 5), (5, 9), (300_000, None), (7, 7), (0, 400_000)):
        assert b"".join(store.read("deliverables/one", start, end)) == content[start:end], (start, end)


def test_object_is_invisible_before_commit(store: ObjectStorage) -> None:
    store.delete("deliverables/one")
    with store.open("deliverables/one", "wb") as file:
        file.write(b"x" * MIB)
        with pytest.raises(FileNotFoundError):
            store.size("deliverables/one")
    assert store.size("deliverables/one") == MIB


@pytest.mark.parametrize("size", [0, 1, 9 * MIB])
def test_object_whose_writer_fails_is_never_there(store: ObjectStorage, size: int) -> None:
    store.delete("deliverables/one")
    with pytest.raises(ZeroDivisionError):
        write_and_fail(store, size)
    with pytest.raises(FileNotFoundError):
        store.size("deliverables/one")
    assert list(store.unfinished()) == []


def write_and_fail(store: ObjectStorage, size: int) -> None:
    with store.open("deliverables/one", "wb") as file:
        file.write(b"x" * size)
        raise ZeroDivisionError


@pytest.mark.slow
def test_saved_file_downloads_as_it_was(store: ObjectStorage, tmp_path: Path) -> None:
    content = os.urandom(9 * MIB)
    store.save("deliverables/one", io.BytesIO(content))
    with (tmp_path / "copy").open("wb") as file:
        store.download("deliverables/one", file)
    assert (tmp_path / "copy").read_bytes() == content
    with (tmp_path / "copy").open("wb") as file, pytest.raises(FileNotFoundError):
        store.download("deliverables/missing", file)


def test_second_commit_replaces_the_whole_object_and_its_fingerprint_until_it_is_deleted(store: ObjectStorage) -> None:
    store.save_bytes("packages/one", b"first and longer")
    first = store.fingerprint("packages/one")
    assert store.fingerprint("packages/one") == first
    store.save_bytes("packages/one", b"second")
    assert b"".join(store.read("packages/one")) == b"second"
    assert store.fingerprint("packages/one") != first
    # Once it is gone it can be deleted again.
    for _ in range(2):
        store.delete("packages/one")
        with pytest.raises(FileNotFoundError):
            store.read("packages/one")


def test_keys_of_a_folder_are_listed_with_their_time(store: ObjectStorage) -> None:
    for key in ("listed/one", "listed/two.card", "other/three"):
        store.save_bytes(key, b"x")
    found = dict(store.keys_with_times("listed/"))
    assert found.keys() == {"listed/one", "listed/two.card"}
    # The store's clock may count whole seconds.
    assert all(abs(datetime.now(tz=UTC) - at) < timedelta(minutes=1) for at in found.values())
    for key in found:
        store.delete(key)
    assert list(store.keys_with_times("listed/")) == []


def test_file_of_others_in_a_folder_is_no_key(local_store: LocalStorage) -> None:
    local_store.save_bytes("previews/one", b"x")
    (Path(local_store.location) / "previews" / ".DS_Store").touch()
    (Path(local_store.location) / "previews" / "Notes.txt").touch()
    assert [key for key, _ in local_store.keys_with_times("previews/")] == ["previews/one"]


@pytest.mark.s3
def test_unfinished_upload_is_listed_and_can_be_removed(s3_store: S3Storage) -> None:
    upload = s3_store.bucket.Object("deliverables/killed").initiate_multipart_upload()
    upload.Part(1).upload(Body=b"x")
    (part,) = s3_store.unfinished()
    assert part.name == "upload of deliverables/killed"
    assert abs(datetime.now(tz=UTC) - part.since) < timedelta(minutes=1)
    part.remove()
    part.remove()
    assert list(s3_store.unfinished()) == []


@pytest.mark.usefixtures("named_parts")
def test_unfinished_part_is_listed_and_can_be_removed(local_store: LocalStorage) -> None:
    file = writer(local_store, "deliverables/killed")
    (part,) = local_store.unfinished()
    assert part.name.startswith(f"{STAGING}/")
    part.remove()
    part.remove()
    assert list(local_store.unfinished()) == []
    file.discard()


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
def test_file_store_works_on_a_file_system_without_unnamed_files(local_store: LocalStorage) -> None:
    local_store.save_bytes("deliverables/one", b"content")
    file = writer(local_store, "deliverables/two")
    file.write(b"x")
    assert len(stored(Path(local_store.location) / STAGING)) == 1
    file.discard()
    assert stored(Path(local_store.location)) == ["deliverables/one"]
    assert b"".join(local_store.read("deliverables/one")) == b"content"


def test_full_disk_is_an_unavailable_store(local_store: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    file = writer(local_store, "deliverables/one")

    def full(fd: int, content: Any) -> int:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(DependencyUnavailable):
        file.write(b"x")
    file.discard()


def test_disk_that_is_full_only_at_the_close_is_unavailable(local_store: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    file = writer(local_store, "deliverables/one")
    real = os.close

    def full(descriptor: int) -> None:
        real(descriptor)
        raise OSError(errno.EDQUOT, "quota exceeded")

    with monkeypatch.context() as patch:
        patch.setattr(os, "close", full)
        with pytest.raises(DependencyUnavailable):
            file.close()
    # The descriptor may be another file's by now.
    file.discard()
    assert stored(Path(local_store.location)) == []


def test_bad_sector_is_an_unavailable_store(local_store: LocalStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    local_store.save_bytes("deliverables/one", b"x")
    blocks = local_store.read("deliverables/one")

    class Bad(io.BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(blocks, "_file", Bad())
    with pytest.raises(DependencyUnavailable):
        next(blocks)


def test_local_files_are_readable_by_us_only(local_store: LocalStorage) -> None:
    local_store.save_bytes("deliverables/one", b"x")
    assert (Path(local_store.location) / "deliverables/one").stat().st_mode & 0o077 == 0
    assert local_store.presigned_url("deliverables/one", seconds=30, filename="a.zip", content_type="application/zip") is None


def test_media_root_is_read_at_call_time(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    assert isinstance(default_storage, LocalStorage)
    default_storage.save_bytes("previews/one", b"x")
    assert (tmp_path / "previews" / "one").read_bytes() == b"x"


@pytest.mark.s3
def test_upload_that_the_store_ended_meanwhile_fails_and_leaves_nothing(s3_store: S3Storage) -> None:
    with pytest.raises(DependencyUnavailable):
        write_what_is_removed(s3_store)
    assert list(s3_store.unfinished()) == []


def write_what_is_removed(store: S3Storage) -> None:
    with store.open("deliverables/one", "wb") as file:
        file.write(b"x" * (9 * MIB))
        until(lambda: list(store.unfinished()), "the upload begins")[0].remove()


@pytest.mark.s3
@pytest.mark.parametrize("first", [1, PART_BYTES])
def test_writes_of_any_size_become_equal_parts_of_an_s3_upload(s3_store: S3Storage, first: int) -> None:
    content, sizes = os.urandom(first) + os.urandom(PART_BYTES + 5), []

    def note(params: Any, **_: Any) -> None:
        sizes.append(len(params["body"]))

    s3_store.transfer_connection.meta.client.meta.events.register("before-call.s3.UploadPart", note)
    with s3_store.open("deliverables/one", "wb") as file:
        file.write(content[:first])
        file.write(content[first:])
    assert sorted(sizes)[1:] == [PART_BYTES] * (len(content) // PART_BYTES)
    assert b"".join(s3_store.read("deliverables/one")) == content
    s3_store.delete("deliverables/one")


def fetch(url: str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - our own loopback server
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, {}, b""


@pytest.mark.s3
def test_presigned_link_downloads_under_its_name_from_the_public_address(s3_server: S3Server, s3_store: S3Storage, settings: Any) -> None:
    settings.S3_PUBLIC_ENDPOINT_URL = s3_server.endpoint.replace("127.0.0.1", "localhost")
    s3_store.save_bytes("packages/one", b"package")
    link = s3_store.presigned_url("packages/one", seconds=30, filename='schön".zip', content_type="application/zip") or ""
    assert urlsplit(link).hostname == "localhost"
    status, headers, content = fetch(link)
    assert (status, content) == (200, b"package")
    assert headers["Content-Disposition"] == "attachment; filename*=utf-8''sch%C3%B6n%22.zip"
    assert headers["Content-Type"] == "application/zip"


@pytest.mark.s3
def test_tampered_or_expired_presigned_link_is_refused(s3_store: S3Storage) -> None:
    s3_store.save_bytes("packages/one", b"package")
    s3_store.save_bytes("packages/two", b"other")
    link = s3_store.presigned_url("packages/one", seconds=1, filename="a.zip", content_type="application/zip") or ""
    assert fetch(link.replace("packages/one", "packages/two"))[0] == 403
    time.sleep(2.1)
    assert fetch(link)[0] == 403


@pytest.mark.s3
def test_unavailable_s3_store_is_reported_as_unavailable(s3_server: S3Server, s3_store: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    options = s3_server.storage_options() | {"endpoint_url": "http://127.0.0.1:1"}
    down = S3Storage(**options)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(DependencyUnavailable):
        down.size("deliverables/one")
    wrong = S3Storage(**s3_server.storage_options() | {"secret_key": "wrong"})
    with pytest.raises(DependencyUnavailable):
        wrong.read("deliverables/one")


@pytest.fixture
def hung_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Storage]:
    """A store that takes connections and never answers, of which nobody has the patience to wait for seconds."""
    impatient = {"client_config": S3Storage.client_config.merge(Config(read_timeout=0.05))}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = S3Server(f"http://127.0.0.1:{silent.getsockname()[1]}")
        yield S3Storage(**server.storage_options() | impatient)


@pytest.mark.slow
def test_unresponsive_store_is_tried_only_once_in_a_while(hung_store: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    now, sent = [0.0], []
    answers: list[bool] = []

    def note(request: Any, **_: Any) -> Any:
        sent.append(request.url)
        return AWSResponse(request.url, 404, {}, HTTPResponse(io.BytesIO(), preload_content=False)) if answers else None

    monkeypatch.setattr(s3, "time", SimpleNamespace(monotonic=lambda: now[0]))
    hung_store.connection.meta.client.meta.events.register("before-send.s3", note)

    def asks() -> bool:
        before = len(sent)
        with pytest.raises(DependencyUnavailable):
            hung_store.size("deliverables/one")
        return len(sent) > before

    assert [asks() for _ in range(s3.MAX_FAILURES + 2)] == [*[True] * s3.MAX_FAILURES, False, False]
    now[0] += s3.PAUSE_SECONDS
    assert [asks(), asks()] == [True, False]
    now[0] += s3.PAUSE_SECONDS
    answers.append(True)
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            hung_store.size("deliverables/one")


@pytest.mark.slow
def test_object_is_put_together_from_bytes_and_a_stored_one(store: ObjectStorage) -> None:
    content, tail = os.urandom(2 * MIB), os.urandom(100)
    store.save_bytes("deliverables/one", content)
    for head, start, end in ((b"", 0, 0), (b"x" * 7, 3, 3), (b"x" * 40, 5, MIB)):
        store.compose("packages/one", [head, StoredRange(store, "deliverables/one", start, end), tail], content_type="application/zip")
        assert b"".join(store.read("packages/one")) == head + content[start:end] + tail, (head, start, end)


def test_object_from_a_missing_one_leaves_nothing(store: ObjectStorage) -> None:
    segments: list[Segment] = [b"head", StoredRange(store, "deliverables/missing", 0, 24 * MIB)]
    with pytest.raises(FileNotFoundError):
        store.compose("hollow/one", segments, content_type="application/zip")
    assert not list(store.keys_with_times("hollow/"))
    assert not [part for part in store.unfinished() if "hollow" in part.name]


@pytest.mark.s3
def test_large_object_is_copied_by_the_store_itself(s3_store: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3, "COPIED_PART_BYTES", 6 * MIB)
    content, passed = os.urandom(12 * MIB), []
    s3_store.save_bytes("deliverables/one", content)
    read = S3Storage.read

    def counted(self: S3Storage, key: str, start: int = 0, end: int | None = None) -> Any:
        for block in read(self, key, start, end):
            passed.append(len(block))
            yield block

    # Behind nothing, behind bytes that what follows must fill up to a part, and behind bytes that are one.
    for head, start, end in ((0, 0, 12 * MIB), (40, 0, 11 * MIB - 40), (6 * MIB, 1, 12 * MIB)):
        segments: list[Segment] = [content[:head], StoredRange(s3_store, "deliverables/one", start, end), b"tail"]
        with monkeypatch.context() as patch:
            patch.setattr(S3Storage, "read", counted)
            s3_store.compose("packages/one", segments, content_type="application/zip")
        assert b"".join(s3_store.read("packages/one")) == content[:head] + content[start:end] + b"tail", (head, start, end)
        # Only what fills a part up passes through us.
        assert sum(passed) == (5 * MIB - 40 if head == 40 else 0)
        passed.clear()
