"""Responses with file content, from stored objects or from segments: GET and HEAD, ETag, a single Range."""

import itertools
import logging
import re
from collections.abc import Generator, Mapping, Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from marketplace.api.problems import json_problem_response
from marketplace.core.errors import DependencyUnavailable, RangeNotSatisfiable

from .base import BLOCK_BYTES, Blocks, Segment, StoredRange

_RANGE = re.compile(r"bytes=[ \t]*(\d{0,19})-(\d{0,19})[ \t]*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

logger = logging.getLogger(__name__)


def serve_segments(
    request: HttpRequest,
    *,
    segments: Sequence[Segment],
    etag: str,
    content_type: str,
    headers: Mapping[str, str] | None = None,
    filename: str | None = None,
    inline: bool = True,
) -> HttpResponseBase:
    """Return a response with segments as one file, or with the requested range of it; only these bytes are read.

    Args:
        request: A GET or HEAD request.
        segments: What the file consists of; `[StoredRange(storage, key, 0, size)]` for a stored object.
        etag: A strong validator without quotes, usually the SHA-256.
        content_type: The media type, determined by us; never the one that the uploader declared.
        headers: Additional headers, sent with 200, 206 and 304.
        filename: The suggested file name; any text, sanitised here.
        inline: False makes browsers save the file instead of showing it.
    """
    validator = f'"{etag}"'
    size = sum(_length(segment) for segment in segments)
    shared = {"ETag": validator, "Accept-Ranges": "bytes", "X-Content-Type-Options": "nosniff", **(headers or {})}
    if _matches(request.headers.get("If-None-Match", ""), validator):
        unchanged = HttpResponse(status=304, headers=shared)
        del unchanged["Content-Type"]
        return unchanged
    asked = _requested_range(request, validator)
    start, end = _span(asked, size) if asked else (0, size)
    if asked and start >= size:
        return json_problem_response(RangeNotSatisfiable(headers={"Content-Range": f"bytes */{size}"}, size=size), request)
    shared["Content-Type"] = content_type
    shared["Content-Length"] = str(end - start)
    if disposition := _safe_disposition(filename, inline=inline):
        shared["Content-Disposition"] = disposition
    status = 200
    if asked:
        # Also for the whole file: players request `bytes=0-` to find out whether ranges are supported.
        status = 206
        shared["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        return HttpResponse(status=status, headers=shared)
    return StreamingHttpResponse(_Joined(_cut(segments, start, end)), status=status, headers=shared)


def _safe_disposition(filename: str | None, *, inline: bool) -> str | None:
    """Return a Content-Disposition (RFC 6266) for any file name, None if none is needed."""
    name = _CONTROL.sub("", filename or "").replace("/", "_").replace("\\", "_").strip()
    return content_disposition_header(as_attachment=not inline, filename=name)


def attachment(filename: str) -> dict[str, str]:
    """Return the header by which a browser saves a response as a file."""
    return {"Content-Disposition": _safe_disposition(filename, inline=False) or "attachment"}


def _length(segment: Segment) -> int:
    return len(segment) if isinstance(segment, bytes) else segment.end - segment.start


def _matches(header: str, validator: str) -> bool:
    """Compare weakly, as RFC 9110 requires for If-None-Match."""
    candidates = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in candidates or validator in candidates


def _requested_range(request: HttpRequest, validator: str) -> tuple[int | None, int | None] | None:
    """Return the first and last byte of the requested range, None for the whole file.

    Several ranges, other units and malformed headers get the whole file, as RFC 9110 allows.
    """
    if request.method != "GET" or request.headers.get("If-Range", validator) != validator:
        return None
    asked = _RANGE.fullmatch(request.headers.get("Range", ""))
    if asked is None:
        return None
    first, last = (int(digits) if digits else None for digits in asked.groups())
    if first is None and last is None:
        return None
    if first is not None and last is not None and last < first:
        return None
    return first, last


def _span(asked: tuple[int | None, int | None], size: int) -> tuple[int, int]:
    """Return start and end of the bytes to send; a start at or beyond the size means that the range cannot be satisfied."""
    first, last = asked
    if first is None:
        # A suffix: the last so many bytes.
        return (max(size - last, 0) if last else size), size
    return first, size if last is None else min(last + 1, size)


def _cut(segments: Sequence[Segment], start: int, end: int) -> list[Segment]:
    """Return the segments that make up bytes `start` up to `end`."""
    cut: list[Segment] = []
    position = 0
    for segment in segments:
        length = _length(segment)
        low, high = max(start - position, 0), min(end - position, length)
        position += length
        if low >= high:
            continue
        if isinstance(segment, bytes):
            cut.append(segment[low:high])
        else:
            cut.append(StoredRange(segment.storage, segment.key, segment.start + low, segment.start + high))
    return cut


class _Joined:
    """Iterates over the blocks of several segments, one after another.

    The first stored segment is opened before the response starts, so that a missing object gives an error response, not a broken
    download. The others are opened when they are reached.
    """

    def __init__(self, segments: Sequence[Segment]) -> None:
        first = next((segment for segment in segments if isinstance(segment, StoredRange)), None)
        self._sources: list[Blocks | Generator[bytes]] = [
            _slices(segment) if isinstance(segment, bytes) else _open(segment) if segment is first else _open_lazily(segment)
            for segment in segments
        ]
        self._blocks = itertools.chain.from_iterable(self._sources)

    def __iter__(self) -> "_Joined":
        return self

    def __next__(self) -> bytes:
        return next(self._blocks)

    def close(self) -> None:
        for source in self._sources:
            source.close()


def _slices(content: bytes) -> Generator[bytes]:
    for position in range(0, len(content), BLOCK_BYTES):
        yield content[position : position + BLOCK_BYTES]


def _open(segment: StoredRange) -> Blocks:
    try:
        return segment.storage.read(segment.key, segment.start, segment.end)
    except FileNotFoundError as error:
        # The record exists without its file: a server error, not a 404.
        logger.exception("the stored object %s is missing", segment.key)
        raise DependencyUnavailable("The file cannot be read at the moment.") from error


def _open_lazily(segment: StoredRange) -> Generator[bytes]:
    yield from _open(segment)
