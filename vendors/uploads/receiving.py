"""Receives a file over HTTP in one pass; what is not kept leaves nothing behind."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError, connections
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from marketplace.core import bounds
from marketplace.core.errors import (
    BodyTooLarge,
    DependencyUnavailable,
    InvalidInput,
    LengthRequired,
    MalformedBody,
    MalformedRequest,
    UnsupportedType,
)
from marketplace.core.objects import object_store
from marketplace.core.objects.base import ObjectStore, ObjectWriter

from .errors import FileRejected, UploadIncomplete
from .handler import FIELD, OnePassHandler, Sink, unknown_field
from .hashing import HashedSink

EXTENSION_CHARS = 20
# Reads the form around a file, whose bytes go to the handler; returns the names of the other fields.
FormReader = Callable[[HttpRequest, OnePassHandler], Iterable[str]]


@dataclass
class Received:
    """A file that arrived whole and is in the store; leaving the `with` block without `keep` removes it again."""

    store: ObjectStore = field(repr=False)
    key: str
    filename: str
    size: int
    sha256: str
    crc32: int
    # The first 512 bytes.
    head: bytes = field(repr=False)
    _kept: bool = False

    def keep(self) -> None:
        """The record that names the file is committed."""
        self._kept = True

    def discard(self) -> None:
        """Remove the file from the store, unless it is kept."""
        if not self._kept:
            self.store.delete(self.key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # A database that went away during the commit may have the record: only the sweep can tell.
        if not isinstance(error, OperationalError | InterfaceError):
            self.discard()


def check_upload_headers(request: HttpRequest, maximum_bytes: int) -> None:
    """Refuse by its headers, before its body, what cannot become an upload.

    Raises:
        LengthRequired: no Content-Length; chunked bodies are not taken.
        BodyTooLarge: more than the file may have plus room for the form around it.
        UnsupportedType: not multipart/form-data.
    """
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length or "HTTP_TRANSFER_ENCODING" in request.META:
        raise LengthRequired
    if not length.isascii() or not length.isdigit():
        raise MalformedRequest
    if int(length) > maximum_bytes + bounds.MULTIPART_OVERHEAD_BYTES:
        raise BodyTooLarge(maximumBytes=maximum_bytes)
    if request.content_type != "multipart/form-data":
        raise UnsupportedType("Send multipart/form-data with one part named file.")


def bare_form(request: HttpRequest, upload: OnePassHandler) -> list[str]:
    """Read a form of nothing but the file, past everything in Django that would keep it."""
    fields, _ = MultiPartParser(request.META, request, [upload], request.encoding).parse()
    return [str(name) for name in fields]


def receive(request: HttpRequest, *, key: str, maximum_bytes: int, reader: FormReader = bare_form) -> Received:
    """Stream the part named `file` into the store and return what is known of it.

    The order in a view, everything that can refuse coming before the body is read:
      1. authentication, ownership and state: `request.data`, `.POST` and `.FILES` stay untouched;
      2. `check_upload_headers`, or leave it to this function, which begins with it;
      3. with receive(request._request, key=..., maximum_bytes=...) as received:
             inspect, then write the record in a transaction of its own that checks the state again;
             received.keep()
    Not inside of a transaction: a database connection would be held for as long as the client takes to send.

    Args:
        request: Django's request, not DRF's.
        key: Where to store the file; new, made from a fresh id.
        maximum_bytes: How large the file may be.
        reader: Who reads the form: pages have a field of their own beside the file.

    Raises:
        UploadIncomplete: cut off, no closing boundary, or no file in it.
        BodyTooLarge: by the headers, or by the count of what came.
        InvalidInput: another field, or a second file.
    """
    check_upload_headers(request, maximum_bytes)
    store = object_store()
    writer = store.create(key)
    try:
        with HashedSink(writer) as hashed:
            upload = _read_form(request, hashed, maximum_bytes, reader)
            sha256, crc32 = hashed.digests()
        _commit(writer, store, key)
    finally:
        # After a commit this does nothing.
        writer.abort()
    return Received(store, key, safe_filename(upload.given_name), upload.size, sha256, crc32, upload.head)


def receive_small(request: HttpRequest, *, maximum_bytes: int, reader: FormReader = bare_form) -> tuple[str, bytes]:
    """Return the name and the bytes of the part named `file`, for previews that are processed in memory.

    Raises what `receive` raises; the same order applies.
    """
    check_upload_headers(request, maximum_bytes)
    content = _Memory()
    upload = _read_form(request, content, maximum_bytes, reader)
    return safe_filename(upload.given_name), b"".join(content.chunks)


def _commit(writer: ObjectWriter, store: ObjectStore, key: str) -> None:
    try:
        writer.commit()
    except DependencyUnavailable:
        # The store may have done it all the same, and only its answer was lost. The key is ours alone.
        with suppress(DependencyUnavailable):
            store.delete(key)
        raise


class _Memory:
    def __init__(self) -> None:
        self.chunks: list[bytes] = []

    def write(self, chunk: bytes) -> None:
        self.chunks.append(chunk)


def _read_form(request: HttpRequest, sink: Sink, maximum_bytes: int, reader: FormReader) -> OnePassHandler:
    _release_connections()
    upload = OnePassHandler(sink, maximum_bytes)
    with _form_errors():
        fields = set(reader(request, upload))
    others = sorted(fields - {FIELD})
    if others:
        raise InvalidInput(errors=[unknown_field(name) for name in others[:10]])
    if FIELD in fields or not upload.complete:
        # A part without a file name is a text field to Django.
        raise UploadIncomplete
    if not upload.size:
        raise FileRejected("The file is empty.", reason="empty")
    return upload


@contextmanager
def _form_errors() -> Iterator[None]:
    try:
        yield
    except UnreadablePostError as error:
        raise UploadIncomplete from error
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise MalformedBody("Send well-formed multipart/form-data with one part named file.") from error


def _release_connections() -> None:
    """Give database connections back: a slow client may take hours to send."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def safe_filename(name: str) -> str:
    """Return a client's file name as a plain base name that can be shown and offered for saving."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    text = "".join(char for char in unicodedata.normalize("NFC", base) if char.isprintable()).strip(" .")
    if len(text) > bounds.FILE_NAME_CHARS:
        stem, dot, extension = text.rpartition(".")
        short = dot and len(extension) <= EXTENSION_CHARS
        text = f"{stem[: bounds.FILE_NAME_CHARS - len(extension) - 1]}.{extension}" if short else text[: bounds.FILE_NAME_CHARS]
    return text or "file"
