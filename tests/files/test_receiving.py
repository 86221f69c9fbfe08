"""Receiving in the process itself: against both stores, and what becomes of a file that is not kept."""

import hashlib
import os
import threading
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest
from django.test import RequestFactory

from marketplace.core.errors import (
    BodyTooLarge,
    DependencyUnavailable,
    InvalidInput,
    LengthRequired,
    MalformedBody,
    MalformedRequest,
    RateLimited,
    UnsupportedType,
)
from marketplace.storage import default_storage
from marketplace.storage.base import ObjectStorage
from marketplace.storage.local import LocalFile, LocalStorage
from marketplace.storage.s3 import S3File
from tests.factories import UserFactory
from tests.waiting import PATIENCE_SECONDS
from vendors import bounds
from vendors.errors import FileRejected, UploadIncomplete
from vendors.uploads.receiving import FormReader, bare_form, check_upload_headers, receive, receive_small

from .helpers import MULTIPART, form, stored

MIB = 2**20
KEY = "deliverables/new"


@pytest.fixture
def chosen(store: ObjectStorage, settings: Any) -> ObjectStorage:
    """The store that the settings name."""
    if isinstance(store, LocalStorage):
        settings.MEDIA_ROOT = store.location
    return store


def test_sender_of_many_files_at_a_time_is_refused_and_nobody_else() -> None:
    sender, go, reading = UserFactory.build(pk=1), threading.Event(), threading.Semaphore(0)

    def wait(*_args: object) -> list[str]:
        reading.release()
        assert go.wait(PATIENCE_SECONDS)
        raise InvalidInput

    def send(user: Any, reader: FormReader) -> None:
        request = upload(b"x")
        request.user = user
        with suppress(InvalidInput):
            receive_small(request, maximum_bytes=10, reader=reader)

    threads = [threading.Thread(target=send, args=(sender, wait)) for _ in range(bounds.MAX_CONCURRENT_UPLOADS)]
    for thread in threads:
        thread.start()
    assert all(reading.acquire(timeout=PATIENCE_SECONDS) for _ in threads)
    with pytest.raises(RateLimited) as refused:
        send(sender, bare_form)
    assert "Retry-After" in refused.value.headers
    send(UserFactory.build(pk=2), bare_form)
    go.set()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    send(sender, bare_form)


def sent(body: bytes) -> HttpRequest:
    return RequestFactory().generic("POST", "/", body, MULTIPART)


def upload(content: bytes) -> HttpRequest:
    return sent(form(content))


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x"}, LengthRequired),
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": ""}, LengthRequired),
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": "1", "HTTP_TRANSFER_ENCODING": "chunked"}, LengthRequired),
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": "-1"}, MalformedRequest),
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": "²"}, MalformedRequest),
        ({"CONTENT_TYPE": "multipart/form-data; boundary=x", "CONTENT_LENGTH": "65637"}, BodyTooLarge),
        ({"CONTENT_TYPE": "multipart/mixed; boundary=x", "CONTENT_LENGTH": "1"}, UnsupportedType),
        ({"CONTENT_LENGTH": "1"}, UnsupportedType),
    ],
)
def test_headers_are_refused_before_the_body(headers: dict[str, str], problem: type[Exception]) -> None:
    request = RequestFactory().generic("POST", "/")
    for name in ("CONTENT_LENGTH", "CONTENT_TYPE"):
        request.META.pop(name, None)
    request.META |= headers
    request.content_type = headers.get("CONTENT_TYPE", "").partition(";")[0]
    with pytest.raises(problem):
        check_upload_headers(request, 100)


@pytest.mark.parametrize(
    "body",
    [
        form(b"x" * 100, close=False),
        form(b"x" * 100)[:-8],
        b"not a form at all",
        form(b"x", filename=None),
        form(b"x", filename=""),
    ],
    ids=["no boundary at the end", "cut boundary", "no form", "text field", "no file name"],
)
def test_form_without_a_whole_file_is_incomplete_and_leaves_nothing(body: bytes, media: Path) -> None:
    with pytest.raises(UploadIncomplete):
        receive(sent(body), key=KEY, maximum_bytes=1000)
    with pytest.raises(UploadIncomplete):
        receive_small(sent(body), maximum_bytes=1000)
    assert stored(media) == []


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        (form(b"x", close=False) + b"\r\n" + form(b"y"), "#/file", "too_many"),
        (form(b"x", close=False) + b"\r\n" + form(b"y", name="title", filename=None), "#/title", "unknown_field"),
        (form(b"y", name="image"), "#/image", "unknown_field"),
    ],
)
def test_unexpected_parts_of_a_form_are_refused_by_name(body: bytes, pointer: str, code: str, media: Path) -> None:
    with pytest.raises(InvalidInput) as refusal:
        receive(sent(body), key=KEY, maximum_bytes=1000)
    assert [(error["pointer"], error["code"]) for error in refusal.value.members["errors"]] == [(pointer, code)]
    assert stored(media) == []


def test_upload_form_with_too_many_fields_is_malformed() -> None:
    many = b"\r\n".join(form(b"", name=f"n{index}", filename=None, close=False) for index in range(250))
    with pytest.raises(MalformedBody):
        receive_small(sent(many + b"\r\n" + form(b"x")), maximum_bytes=1000)


def test_small_file_is_returned_in_memory_and_an_empty_or_larger_one_refused() -> None:
    assert receive_small(upload(b"x" * 100), maximum_bytes=100) == b"x" * 100
    with pytest.raises(BodyTooLarge):
        receive_small(upload(b"x" * 101), maximum_bytes=100)
    with pytest.raises(FileRejected):
        receive_small(upload(b""), maximum_bytes=100)


def test_upload_is_hashed_and_stored_in_one_pass_in_either_store(chosen: ObjectStorage) -> None:
    # Several parts of an object on S3.
    content = os.urandom(9 * MIB)
    with receive(upload(content), key=KEY, maximum_bytes=len(content)) as received:
        assert (received.filename, received.size) == ("font.zip", len(content))
        assert (received.sha256, received.crc32) == (hashlib.sha256(content).hexdigest(), zlib.crc32(content))
        received.keep()
    assert b"".join(chosen.read(KEY)) == content
    chosen.delete(KEY)


def test_upload_above_the_maximum_leaves_nothing_in_either_store(chosen: ObjectStorage) -> None:
    with pytest.raises(BodyTooLarge):
        receive(upload(os.urandom(9 * MIB)), key=KEY, maximum_bytes=9 * MIB - 1)
    with pytest.raises(FileNotFoundError):
        chosen.size(KEY)
    assert not list(chosen.unfinished())


def test_commit_whose_response_was_lost_leaves_nothing(chosen: ObjectStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = LocalFile if isinstance(chosen, LocalStorage) else S3File
    real = kind.close

    def close(self: Any) -> None:
        real(self)
        raise DependencyUnavailable

    monkeypatch.setattr(kind, "close", close)
    with pytest.raises(DependencyUnavailable):
        receive(upload(b"x"), key=KEY, maximum_bytes=100)
    with pytest.raises(FileNotFoundError):
        chosen.size(KEY)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_uploaded_file_whose_commit_is_uncertain_is_left_to_the_sweep(media: Path, error: type[Exception]) -> None:
    with pytest.raises(error), receive(upload(b"x"), key=KEY, maximum_bytes=100):
        raise error
    assert default_storage.size(KEY) == 1


def test_hashing_threads_end_with_their_uploads(media: Path) -> None:
    before = threading.active_count()
    with receive(upload(b"x" * MIB), key=KEY, maximum_bytes=MIB):
        assert threading.active_count() == before
    with pytest.raises(BodyTooLarge):
        receive(upload(b"x" * MIB), key=KEY, maximum_bytes=MIB - 1)
    assert threading.active_count() == before


def test_body_that_was_read_before_is_an_incomplete_upload(media: Path) -> None:
    request = upload(b"x")
    request.read()
    with pytest.raises(UploadIncomplete):
        receive(request, key=KEY, maximum_bytes=10)


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_while_the_body_arrives(media: Path) -> None:
    connection.ensure_connection()
    with receive(upload(b"x"), key=KEY, maximum_bytes=10):
        assert connection.connection is None
