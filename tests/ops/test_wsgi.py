"""What the server makes of content types that Django itself does not survive, and of bodies that nobody read."""

from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from marketplace import wsgi
from marketplace.http.request_body import DISCARDED_BUFFERED_BYTES

pytestmark = pytest.mark.django_db


def environ_of(path: str, content_type: str, method: str = "POST", body: bytes = b"{}") -> dict[str, Any]:
    environ: dict[str, Any] = {}
    setup_testing_defaults(environ)
    return environ | {
        "HTTP_HOST": "testserver",
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        # Operations of the API refuse parameters that they do not know, whatever the body is.
        "QUERY_STRING": "" if path.startswith("/api/") else "q=%ff&x=%c3%a4",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": BytesIO(body),
    }


def answer(path: str, content_type: str, method: str = "POST", body: bytes = b"{}") -> tuple[int, bytes]:
    environ = environ_of(path, content_type, method, body)
    statuses: list[str] = []
    content = b"".join(wsgi.application(environ, lambda status, _headers, *_info: statuses.append(status)))
    return int(statuses[0][:3]), content


@pytest.mark.parametrize("parameters", ["charset=idna", 'CHARSET = "rot13"', "x*=bogus''%ff", "charset*=idna''%ff"])
def test_unknown_charset_of_the_content_type_does_not_crash(parameters: str) -> None:
    assert answer("/api/v1/leaked-credentials", f"application/json; {parameters}")[0] == 415
    assert answer("/oauth/token", f"application/x-www-form-urlencoded; {parameters}")[0] == 400
    assert answer("/.well-known/oauth-authorization-server", f"text/plain; {parameters}", method="GET")[0] == 200


@pytest.mark.parametrize("content_type", ["", 'application/json; charset="UTF-8"', "application/json;"])
def test_unusual_content_types_are_passed_on(content_type: str) -> None:
    status, body = answer("/api/v1/leaked-credentials", content_type)
    assert (status, b"#/credentials" in body) == (400, True)


def headers_of(server: str, stream: BytesIO, **more: str) -> dict[str, str]:
    sent: dict[str, str] = {}
    environ = environ_of("/api/v1/wallet/spend", "application/json", body=stream.getvalue())
    environ |= {"SERVER_SOFTWARE": server, "wsgi.input": stream} | more
    b"".join(wsgi.application(environ, lambda _status, headers, *_info: sent.update(headers)))
    return sent


def test_connection_that_ends_because_the_body_was_not_read_says_so() -> None:
    stream = BytesIO(b"{}")
    assert headers_of("Granian", stream)["Connection"] == "close"
    # The client may be slow: nobody waits for the rest.
    assert stream.tell() == 0
    # Others refuse to send such a header, by PEP 3333.
    assert "Connection" not in headers_of("WSGIServer/0.2", BytesIO(b"{}"))


def test_connection_goes_on_where_the_body_was_read() -> None:
    assert "Connection" not in headers_of("Granian", BytesIO(b"{"), PATH_INFO="/api/v1/leaked-credentials")


@pytest.mark.parametrize(("size", "left"), [(2, 0), (DISCARDED_BUFFERED_BYTES + 1, 1)])
def test_body_that_a_proxy_still_sends_is_read_once_the_response_is_sent(size: int, left: int, settings: Any) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    stream = BytesIO(b" " * size)
    environ = environ_of("/api/v1/wallet/spend", "application/json", body=stream.getvalue())
    environ |= {"wsgi.input": stream, "REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "203.0.113.9"}
    response = iter(wsgi.application(environ, lambda *_: None))
    assert b"not_authenticated" in next(response)
    assert stream.tell() == 0
    assert list(response) == []
    assert len(stream.read()) == left
