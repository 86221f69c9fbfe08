"""What the server makes of content types that Django itself does not survive, and of bodies that nobody read."""

from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from marketplace import wsgi
from marketplace.core.request_body import DISCARDED_BYTES

pytestmark = pytest.mark.django_db
TOO_LARGE = b" " * (DISCARDED_BYTES + 1)


def environ_of(path: str, content_type: str, method: str = "POST", body: bytes = b"{}") -> dict[str, Any]:
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    return environ | {
        "HTTP_HOST": "testserver",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": "q=%ff&x=%c3%a4",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }


def answer(path: str, content_type: str, method: str = "POST", body: bytes = b"{}") -> tuple[int, bytes]:
    environ = environ_of(path, content_type, method, body)
    statuses: list[str] = []
    content = b"".join(wsgi.application(environ, lambda status, _headers, *_info: statuses.append(status)))
    return int(statuses[0][:3]), content


@pytest.mark.parametrize(
    "parameters", ["charset=idna", "charset=utf-7", "CHARSET = punycode", 'charset="rot13"', "x*=bogus''%ff", "charset*=idna''%ff"]
)
def test_charset_that_is_none_for_an_address_is_no_crash(parameters: str) -> None:
    assert answer("/api/v1/leaked-credentials", f"application/json; {parameters}")[0] == 415
    assert answer("/oauth/token", f"application/x-www-form-urlencoded; {parameters}")[0] == 400
    assert answer("/.well-known/oauth-authorization-server", f"text/plain; {parameters}", method="GET")[0] == 200


@pytest.mark.parametrize(
    "content_type", ["", "application/json", 'application/json; charset="UTF-8"', "application/json;", "application/json; v=1"]
)
def test_other_content_types_are_passed_on(content_type: str) -> None:
    status, body = answer("/api/v1/leaked-credentials", content_type)
    assert (status, b"#/credentials" in body) == (400, True)


def headers_of(server: str, body: bytes) -> dict[str, str]:
    sent: dict[str, str] = {}
    environ = environ_of("/api/v1/leaked-credentials", "application/json", body=body) | {"SERVER_SOFTWARE": server}
    b"".join(wsgi.application(environ, lambda _status, headers, *_info: sent.update(headers)))
    return sent


def test_connection_that_ends_because_the_body_was_not_read_says_so() -> None:
    assert headers_of("Granian", TOO_LARGE)["Connection"] == "close"
    # Others refuse to send such a header, by PEP 3333.
    assert "Connection" not in headers_of("WSGIServer/0.2", TOO_LARGE)


@pytest.mark.parametrize("body", [b"{}", b"{", b"", TOO_LARGE[:-1]])
def test_connection_goes_on_where_the_body_was_read(body: bytes) -> None:
    assert "Connection" not in headers_of("Granian", body)
