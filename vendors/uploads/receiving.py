"""Receives a file over HTTP in one pass; a file that is not kept is removed again."""

import io
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParser, MultiPartParserError

from catalog import bounds as catalog_bounds
from marketplace.core.database import release_connection
from marketplace.core.errors import (
    BodyTooLarge,
    DependencyUnavailable,
    InvalidInput,
    LengthRequired,
    MalformedBody,
    MalformedRequest,
    Problem,
    RateLimited,
    UnsupportedType,
)
from marketplace.http.overload import CallerLimit
from marketplace.storage import default_storage
from marketplace.storage.base import BLOCK_BYTES, ObjectStorage

from .. import bounds
from ..errors import ChecksumMismatch, FileRejected, UploadIncomplete
from .handler import FIELD, OnePassHandler, Sink, unknown_field
from .hashing import Checksum, HashedSink

EXTENSION_CHARS = 20
# A slow upload occupies a thread as long as its sender likes, so each user is limited.
_senders = CallerLimit(per_caller=bounds.MAX_CONCURRENT_UPLOADS)
# Parses the form and passes the file's bytes to the handler; returns the names of the other fields.
FormReader = Callable[[HttpRequest, OnePassHandler], Iterable[str]]


@dataclass
class Received:
    """A completely received, stored file. It is removed again when the `with` block is left without a call of `keep`."""

    storage: ObjectStorage = field(repr=False)
    key: str
    filename: str
    size: int
    sha256: str
    crc32: int
    _kept: bool = False

    def keep(self) -> None:
        """Keep the file; call it once the record that refers to it is committed."""
        self._kept = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # The connection may have broken during the commit, so the record may exist. `sweep_objects` deletes the file if it does not.
        if not self._kept and not isinstance(error, OperationalError | InterfaceError):
            self.storage.delete(self.key)


def check_upload_headers(request: HttpRequest, maximum_bytes: int) -> None:
    """Refuse a request by its headers, before its body is read, where it cannot be a valid upload.

    Raises:
        LengthRequired: no Content-Length; chunked bodies are not accepted.
        BodyTooLarge: larger than the file may be plus the overhead of the form.
        MalformedRequest: Content-Length is not a number.
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


def announced_size(request: HttpRequest) -> int:
    """Return the approximate size of a form's file according to the headers; 0 where they do not say."""
    length = request.META.get("CONTENT_LENGTH") or ""
    return max(0, int(length) - bounds.MULTIPART_OVERHEAD_BYTES) if length.isascii() and length.isdigit() else 0


def bare_form(request: HttpRequest, handler: OnePassHandler) -> list[str]:
    """Parse a form that contains nothing but the file, bypassing `request.POST` and `FILES`, which would buffer it."""
    fields, _ = MultiPartParser(request.META, request, [handler], request.encoding).parse()
    return [str(name) for name in fields]


def receive(request: HttpRequest, *, key: str, maximum_bytes: int, reader: FormReader = bare_form) -> Received:
    """Stream the part named `file` into the file store.

    First make every check that needs no body, without `request.data`, `.POST` and `.FILES`, which would read the body. Use it as a
    context manager, and call `keep` once the record is committed, in a transaction that checks the state again. Do not call it inside
    a transaction, which would hold a database connection for as long as the client takes to send.

    Args:
        request: Django's request, not DRF's.
        key: The object key to store the file under; it must be new.
        maximum_bytes: The largest file that is accepted.
        reader: Parses the form; forms of pages also contain a CSRF token.

    Raises:
        UploadIncomplete: truncated, no closing boundary, or without a file.
        BodyTooLarge: by the headers, or by the number of bytes received.
        FileRejected: the file is empty.
        InvalidInput: it has another field, or a second file.
        LengthRequired, MalformedRequest, UnsupportedType: what `check_upload_headers` says.
        MalformedBody: the form is not well-formed.
        RateLimited: the user already sends `bounds.MAX_CONCURRENT_UPLOADS` files to this process.
    """
    check_upload_headers(request, maximum_bytes)
    with removed_on_failure(key), default_storage.open(key, "wb") as file, HashedSink(file) as hashed:
        handler = _read_form(request, hashed, maximum_bytes, reader)
        sha256, crc32 = hashed.digests()
    return Received(default_storage, key, safe_filename(handler.given_name), handler.size, sha256, crc32)


@contextmanager
def removed_on_failure(key: str, failure: type[Problem] = DependencyUnavailable) -> Iterator[None]:
    """Delete the object with this new key when the block raises `failure`; a file store that fails may have written it nevertheless."""
    try:
        yield
    except failure:
        # No other upload uses this key, so deleting is safe.
        with suppress(DependencyUnavailable):
            default_storage.delete(key)
        raise


def receive_small(request: HttpRequest, *, maximum_bytes: int, reader: FormReader = bare_form) -> bytes:
    """Receive the part named `file` into memory, for previews.

    First make every check that needs no body, as for `receive`; raises what that raises.
    """
    check_upload_headers(request, maximum_bytes)
    content = io.BytesIO()
    _read_form(request, content, maximum_bytes, reader)
    return content.getvalue()


def receive_part(request: HttpRequest, *, key: str, size: int, checksum: Checksum | None = None) -> None:
    """Store the `size` bytes of a body under a new key.

    Raises:
        ChecksumMismatch: they have another checksum; nothing was stored.
        RateLimited: the user already sends `bounds.MAX_CONCURRENT_UPLOADS` files to this process.
        UploadIncomplete: the body ended early; nothing of it was stored.
    """
    release_connection()
    with upload_slot(request), removed_on_failure(key), default_storage.open(key, "wb") as file:
        while size:
            block = request.read(min(size, BLOCK_BYTES))
            if not block:
                raise UploadIncomplete("The part ended early. Read how much has arrived with HEAD, then send what follows.")
            file.write(block)
            size -= len(block)
            if checksum is not None:
                checksum.update(block)
        if checksum is not None and not checksum.matches:
            raise ChecksumMismatch


def _read_form(request: HttpRequest, sink: Sink, maximum_bytes: int, reader: FormReader) -> OnePassHandler:
    # A slow client may take hours to send.
    release_connection()
    handler = OnePassHandler(sink, maximum_bytes)
    with upload_slot(request), _form_errors_as_problems():
        fields = set(reader(request, handler))
    others = sorted(fields - {FIELD})
    if others:
        raise InvalidInput(errors=[unknown_field(name) for name in others[:10]])
    if FIELD in fields or not handler.complete:
        # Django treats a part without a file name as a text field.
        raise UploadIncomplete
    if not handler.size:
        raise FileRejected("The file is empty.", reason="empty")
    return handler


@contextmanager
def upload_slot(request: HttpRequest) -> Iterator[None]:
    """Count the request as one of the user's concurrent uploads while the block runs.

    Raises:
        RateLimited: the user has `bounds.MAX_CONCURRENT_UPLOADS` in this process.
    """
    sender = str(getattr(getattr(request, "user", None), "pk", ""))
    if not _senders.acquire(sender):
        detail = f"You are already sending {bounds.MAX_CONCURRENT_UPLOADS} files. Send this one when one of them is complete."
        raise RateLimited(detail, headers={"Retry-After": "5"})
    try:
        yield
    finally:
        _senders.release(sender)


@contextmanager
def _form_errors_as_problems() -> Iterator[None]:
    try:
        yield
    except UnreadablePostError as error:
        if isinstance(error.__cause__, TimeoutError):
            raise
        raise UploadIncomplete from error
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise MalformedBody("Send well-formed multipart/form-data with one part named file.") from error


def safe_filename(name: str) -> str:
    """Return a client's file name as a base name that is safe to display and to use in a download."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    text = "".join(char for char in unicodedata.normalize("NFC", base) if char.isprintable()).strip(" .")
    if len(text) > catalog_bounds.FILE_NAME_CHARS:
        _, dot, extension = text.rpartition(".")
        ending = f".{extension}" if dot and len(extension) <= EXTENSION_CHARS else ""
        text = text[: catalog_bounds.FILE_NAME_CHARS - len(ending)] + ending
    return text or "file"
