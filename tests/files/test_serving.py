import hashlib

import pytest
from django.http import HttpResponseBase
from django.test import RequestFactory

from marketplace.core.errors import DependencyUnavailable
from marketplace.storage.base import ObjectStorage, Segment, StoredRange
from marketplace.storage.responses import serve_segments

# Closing an answer asks the connection whether it is still good.
pytestmark = pytest.mark.django_db

CONTENT = bytes(range(256)) * 4096
ETAG = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def stored(local_store: ObjectStorage) -> ObjectStorage:
    """A store with the object; that S3 reads the same ranges is in `test_stores.py`."""
    local_store.save_bytes("previews/one", CONTENT)
    return local_store


def ask(store: ObjectStorage, method: str = "GET", **headers: str) -> HttpResponseBase:
    request = RequestFactory(headers=headers).generic(method, "/api/v1/previews/one")
    return serve_segments(request, segments=[StoredRange(store, "previews/one", 0, len(CONTENT))], etag=ETAG, content_type="image/webp")


def body(response: HttpResponseBase) -> bytes:
    content = b"".join(response) if response.streaming else response.content  # type: ignore[attr-defined]  # which of the two is known at run time only
    response.close()
    assert isinstance(content, bytes)
    return content


def test_missing_object_is_an_error_before_the_response_headers_are_sent(local_store: ObjectStorage) -> None:
    with pytest.raises(DependencyUnavailable):
        ask(local_store)


def test_get_sends_everything(stored: ObjectStorage) -> None:
    response = ask(stored)
    assert response.status_code == 200
    assert response["Content-Length"] == str(len(CONTENT))
    assert response["Accept-Ranges"] == "bytes"
    assert response["ETag"] == f'"{ETAG}"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert body(response) == CONTENT


def test_head_sends_the_head_only(stored: ObjectStorage) -> None:
    response = ask(stored, "HEAD", range="bytes=0-9")
    assert (response.status_code, response["Content-Length"], body(response)) == (200, str(len(CONTENT)), b"")


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-", 0, len(CONTENT)),
        ("bytes=0-0", 0, 1),
        ("bytes=1000-300000", 1000, 300_001),
        ("bytes=1048570-", 1_048_570, len(CONTENT)),
        ("bytes=1048570-99999999999", 1_048_570, len(CONTENT)),
        ("bytes=-10", len(CONTENT) - 10, len(CONTENT)),
        ("bytes=-99999999", 0, len(CONTENT)),
    ],
)
def test_range_request_gets_its_part(stored: ObjectStorage, asked: str, start: int, end: int) -> None:
    response = ask(stored, range=asked)
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"
    assert response["Content-Length"] == str(end - start)
    assert body(response) == CONTENT[start:end]


def test_range_outside_the_file_is_refused(stored: ObjectStorage) -> None:
    for asked in ("bytes=1048576-", "bytes=-0", "bytes=9999999999999999999-"):
        response = ask(stored, range=asked)
        assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{len(CONTENT)}"), asked
        assert b'"range_not_satisfiable"' in body(response)


def test_range_that_cannot_be_read_gets_everything(stored: ObjectStorage) -> None:
    for asked in ("bytes=0-1,5-6", "items=0-1", "bytes=5-2", "bytes=-", "bytes=a-b", "bytes= 0 - 1", "bytes=1" + "0" * 40 + "-"):
        response = ask(stored, range=asked)
        assert (response.status_code, len(body(response))) == (200, len(CONTENT)), asked


@pytest.mark.parametrize(
    ("condition", "status"),
    [(f'"{ETAG}"', 206), (f'W/"{ETAG}"', 200), ('"other"', 200), ("Wed, 21 Oct 2015 07:28:00 GMT", 200)],
)
def test_if_range_needs_the_very_same_file(stored: ObjectStorage, condition: str, status: int) -> None:
    response = ask(stored, range="bytes=0-1", **{"if-range": condition})
    response.close()
    assert response.status_code == status


@pytest.mark.parametrize("condition", [f'"{ETAG}"', f'W/"{ETAG}"', "*", f'"other", "{ETAG}"'])
def test_known_file_is_not_sent_again(local_store: ObjectStorage, condition: str) -> None:
    response = ask(local_store, **{"if-none-match": condition})
    assert response.status_code == 304
    assert response["ETag"] == f'"{ETAG}"'
    assert "Content-Type" not in response
    assert body(response) == b""


@pytest.mark.parametrize("asked", ["bytes=0-", "bytes=3-9", "bytes=1-1", "bytes=12-", "bytes=-3"])
def test_response_of_several_segments_reads_like_one_file(stored: ObjectStorage, asked: str) -> None:
    segments: list[Segment] = [
        b"head",
        StoredRange(stored, "previews/one", 10, 14),
        b"middle",
        StoredRange(stored, "previews/one", 0, 3),
        b"tail",
    ]
    whole = b"head" + CONTENT[10:14] + b"middle" + CONTENT[0:3] + b"tail"
    start, _, last = asked.removeprefix("bytes=").partition("-")
    expected = whole[-int(last) :] if not start else whole[int(start) : int(last) + 1 if last else None]
    request = RequestFactory(headers={"range": asked}).get("/")
    response = serve_segments(request, segments=segments, etag="x", content_type="application/zip", filename="a.zip", inline=False)
    assert body(response) == expected
    assert response["Content-Disposition"] == 'attachment; filename="a.zip"'


def test_unread_response_leaves_no_open_file(stored: ObjectStorage) -> None:
    ask(stored).close()


@pytest.mark.parametrize(
    ("filename", "disposition"),
    [
        ("font.zip", 'inline; filename="font.zip"'),
        ('a"b\r\nSet-Cookie: x=1.zip', 'inline; filename="a\\"bSet-Cookie: x=1.zip"'),
        ("../../etc/passwd", 'inline; filename=".._.._etc_passwd"'),
        ("schöne schrift.otf", "inline; filename*=utf-8''sch%C3%B6ne%20schrift.otf"),
    ],
)
def test_file_name_cannot_break_the_header(local_store: ObjectStorage, filename: str, disposition: str) -> None:
    request = RequestFactory().head("/")
    response = serve_segments(request, segments=[b"x"], etag="x", content_type="font/otf", filename=filename)
    assert response["Content-Disposition"] == disposition
