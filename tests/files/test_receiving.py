"""Receiving in the process itself: against both stores, and what becomes of a file that is not kept."""

import hashlib
import os
import threading
import zlib
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest
from django.test import RequestFactory

from marketplace.core.errors import BodyTooLarge, DependencyUnavailable, LengthRequired, MalformedRequest, UnsupportedType
from marketplace.core.objects.base import ObjectMissing, ObjectStore
from marketplace.core.objects.local import LocalStore, LocalWriter
from marketplace.core.objects.s3 import S3Store, S3Writer
from vendors.uploads import UploadIncomplete, check_upload_headers, receive

pytestmark = pytest.mark.database

MIB = 2**20
KEY = "deliverables/new"


@pytest.fixture
def chosen(store: ObjectStore, settings: Any) -> ObjectStore:
    """The store that the settings name."""
    if isinstance(store, LocalStore):
        settings.MEDIA_ROOT = store.root
    return store


def upload(content: bytes) -> HttpRequest:
    return RequestFactory().post("/", {"file": SimpleUploadedFile("font.zip", content)})


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


def test_file_passes_once_into_either_store(chosen: ObjectStore) -> None:
    content = os.urandom(17 * MIB)
    with receive(upload(content), key=KEY, maximum_bytes=len(content)) as received:
        assert (received.filename, received.size, received.head) == ("font.zip", len(content), content[:512])
        assert (received.sha256, received.crc32) == (hashlib.sha256(content).hexdigest(), zlib.crc32(content))
        received.keep()
    assert b"".join(chosen.read(KEY)) == content
    chosen.delete(KEY)


def receive_then_fail(chosen: ObjectStore) -> None:
    with receive(upload(b"x"), key=KEY, maximum_bytes=10):
        assert chosen.size(KEY) == 1
        raise RuntimeError


def test_file_of_a_request_that_fails_later_is_removed(chosen: ObjectStore) -> None:
    with pytest.raises(RuntimeError):
        receive_then_fail(chosen)
    with pytest.raises(ObjectMissing):
        chosen.size(KEY)


def test_excess_leaves_nothing_in_either_store(chosen: ObjectStore) -> None:
    with pytest.raises(BodyTooLarge):
        receive(upload(os.urandom(20 * MIB)), key=KEY, maximum_bytes=20 * MIB - 1)
    with pytest.raises(ObjectMissing):
        chosen.size(KEY)
    if isinstance(chosen, S3Store):
        assert not chosen.client.list_multipart_uploads(Bucket=chosen.bucket).get("Uploads")


def test_disk_that_fills_up_is_told_and_leaves_nothing(local_store: LocalStore, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = local_store.root

    def full(self: LocalWriter, chunk: bytes) -> None:
        raise DependencyUnavailable

    monkeypatch.setattr(LocalWriter, "write", full)
    with pytest.raises(DependencyUnavailable):
        receive(upload(b"x" * MIB), key=KEY, maximum_bytes=MIB)
    assert [path for path in local_store.root.rglob("*") if path.is_file()] == []


def test_commit_whose_answer_was_lost_leaves_nothing(chosen: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LocalWriter if isinstance(chosen, LocalStore) else S3Writer
    real = writer.commit

    def commit(self: Any) -> None:
        real(self)
        raise DependencyUnavailable

    monkeypatch.setattr(writer, "commit", commit)
    with pytest.raises(DependencyUnavailable):
        receive(upload(b"x"), key=KEY, maximum_bytes=100)
    with pytest.raises(ObjectMissing):
        chosen.size(KEY)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_file_whose_record_may_be_there_is_left_to_the_sweep(chosen: ObjectStore, error: type[Exception]) -> None:
    with pytest.raises(error), receive(upload(b"x"), key=KEY, maximum_bytes=100):
        raise error
    assert chosen.size(KEY) == 1
    chosen.delete(KEY)


def test_hashing_threads_end_with_their_uploads(local_store: LocalStore, settings: Any) -> None:
    settings.MEDIA_ROOT = local_store.root
    before = threading.active_count()
    with receive(upload(b"x" * MIB), key=KEY, maximum_bytes=MIB):
        assert threading.active_count() == before
    with pytest.raises(BodyTooLarge):
        receive(upload(b"x" * MIB), key=KEY, maximum_bytes=MIB - 1)
    assert threading.active_count() == before


def test_body_that_was_read_before_is_no_upload(local_store: LocalStore, settings: Any) -> None:
    settings.MEDIA_ROOT = local_store.root
    request = upload(b"x")
    request.read()
    with pytest.raises(UploadIncomplete):
        receive(request, key=KEY, maximum_bytes=10)


@pytest.mark.django_db(transaction=True)
def test_no_database_connection_is_held_while_the_body_arrives(local_store: LocalStore, settings: Any) -> None:
    settings.MEDIA_ROOT = local_store.root
    connection.ensure_connection()
    receive(upload(b"x"), key=KEY, maximum_bytes=10).discard()
    assert connection.connection is None
