"""The headers of the tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload)."""

import base64
from collections.abc import Mapping

from django.utils.http import http_date
from rest_framework.request import Request

from catalog import bounds as catalog_bounds
from marketplace.core.errors import BodyTooLarge, InvalidInput, LengthRequired, UnsupportedType

from ..errors import TusVersionUnsupported
from ..models import Upload
from ..uploads.hashing import ALGORITHMS, Checksum
from ..uploads.receiving import safe_filename

VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
VERSION_HEADER = {"Tus-Resumable": VERSION}
OPTIONS_HEADERS = {
    "Tus-Version": VERSION,
    "Tus-Extension": "creation,expiration,termination,checksum",
    "Tus-Max-Size": str(catalog_bounds.DELIVERABLE_BYTES),
    "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
}
_MAX_DIGITS = 15


def check_version(request: Request) -> None:
    """Refuse another version of the protocol.

    Raises:
        TusVersionUnsupported: `Tus-Resumable` is missing or names another one.
    """
    if request.headers.get("Tus-Resumable") != VERSION:
        raise TusVersionUnsupported(headers={"Tus-Version": VERSION})


def upload_length(request: Request) -> int:
    """Return the announced size of the file.

    Raises:
        BodyTooLarge: it is larger than a file may be.
        InvalidInput: it is not a number, or zero.
    """
    size = number_in(request, "Upload-Length", minimum=1)
    if size > catalog_bounds.DELIVERABLE_BYTES:
        raise BodyTooLarge(maximumBytes=catalog_bounds.DELIVERABLE_BYTES)
    return size


def upload_filename(request: Request) -> str:
    """Return the safe file name in `Upload-Metadata`, `file` where there is none.

    Raises:
        InvalidInput: the header is malformed.
    """
    names: dict[str, str] = {}
    for pair in filter(None, request.headers.get("Upload-Metadata", "").split(",")):
        name, _, value = pair.strip().partition(" ")
        try:
            names[name] = base64.b64decode(value, validate=True).decode()
        except ValueError as error:
            raise _invalid("Upload-Metadata", "Send pairs of a name and a value in Base64, separated by commas.") from error
    return safe_filename(names.get("filename", ""))


def part_size(request: Request) -> int:
    """Return the length of a part.

    Raises:
        LengthRequired: the body has no Content-Length.
        UnsupportedType: the body's media type is not that of a part.
    """
    if (request.content_type or "").split(";")[0].strip().lower() != CONTENT_TYPE:
        raise UnsupportedType(f"Send the part as {CONTENT_TYPE}.")
    length = request.META.get("CONTENT_LENGTH") or ""
    if not (length.isascii() and length.isdigit()):
        raise LengthRequired
    return int(length)


def part_checksum(request: Request) -> Checksum | None:
    """Return the announced checksum of a part, None where there is none.

    Raises:
        InvalidInput: it is malformed, or of an algorithm that is not supported.
    """
    header = request.headers.get("Upload-Checksum")
    if header is None:
        return None
    algorithm, _, value = header.partition(" ")
    try:
        return Checksum(algorithm, base64.b64decode(value, validate=True))
    except ValueError as error:
        raise _invalid("Upload-Checksum", f"Send one of {', '.join(ALGORITHMS)}, a space and the checksum in Base64.") from error


def state_headers(upload: Upload) -> Mapping[str, str]:
    """Return the headers that describe the progress of an upload."""
    return {
        **VERSION_HEADER,
        "Cache-Control": "no-store",
        "Upload-Length": str(upload.size),
        "Upload-Offset": str(upload.offset),
        "Upload-Expires": http_date(upload.expires_at.timestamp()),
    }


def number_in(request: Request, name: str, *, minimum: int) -> int:
    """Return the whole number in a header.

    Raises:
        InvalidInput: it is not one, or less than the minimum.
    """
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) >= minimum):
        raise _invalid(name, f"Send a whole number of at least {minimum}.")
    return int(text)


def _invalid(name: str, detail: str) -> InvalidInput:
    return InvalidInput(errors=[{"pointer": name, "code": "invalid", "detail": detail}])
