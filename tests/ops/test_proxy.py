"""The proxy in front of a node that tells what has reached it."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import requests

from marketplace.core.bounds import MIB
from marketplace.core.errors import all_problems

from ..flows.server import running_server
from ..servers.http import Handler, serving
from ..servers.nginx import HOST, NOBODY, Proxy, find_program, nginx
from ..waiting import PATIENCE_SECONDS, until
from .secret_addresses import SECRET_ADDRESSES

pytestmark = pytest.mark.full
UPLOAD = "/api/v1/vendor/assets/0192f0c1/file"
JSON, FORM = "application/json", "multipart/form-data; boundary=x"
# Of one address, whose connections are slow: more than one may hold.
MANY = 100
# More than the proxy lets a node fail before it goes to another.
REFUSED = 25


@dataclass
class Node:
    """What reached the node: the paths of its requests."""

    port: int = 0
    seen: list[str] = field(default_factory=list)


@contextmanager
def node_running() -> Iterator[Node]:
    node = Node()

    class Answering(Handler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            node.seen.append(self.path)
            # A body is read before the answer.
            content = b"" if self.body else json.dumps(dict(self.headers.items())).encode() * 100
            self.answer(200, content, Content_Type="text/html" if self.path == "/page" else JSON)

    with serving(Answering) as node.port:
        yield node


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Node, Proxy]]:
    with node_running() as node, nginx([f"127.0.0.1:{node.port}"]) as proxy:
        yield node, proxy


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The proxy in front of the service itself."""
    find_program()
    given = {"ALLOWED_HOSTS": HOST, "GRANIAN_BLOCKING_THREADS": "64", "TRUSTED_PROXIES": "127.0.0.1"}
    with running_server(tmp_path_factory.mktemp("shop"), given) as server, nginx([server.base_url]) as proxy:
        yield proxy


def test_upload_that_the_node_refuses_halfway_does_not_put_it_out_of_service(shop: Proxy) -> None:
    with shop.session() as session:
        for _ in range(REFUSED):
            with suppress(requests.RequestException):
                session.post(f"https://{shop.host}{UPLOAD}", b"x" * 5_000_000, headers={"Content-Type": FORM}, timeout=PATIENCE_SECONDS)
    # By a connection that nginx has not just closed.
    with shop.session() as session:
        assert session.get(f"https://{shop.host}/api/v1/assets", timeout=PATIENCE_SECONDS).status_code == 200


def connect(proxy: Proxy, source: str = "127.0.0.1") -> ssl.SSLSocket:
    """Open a connection to the site from a loopback address."""
    context = ssl.create_default_context(cafile=proxy.certificate)
    plain = socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE_SECONDS, source_address=(source, 0))
    return context.wrap_socket(plain, server_hostname=proxy.host)


def begin(proxy: Proxy, path: str, content_type: str, source: str = "127.0.0.1") -> ssl.SSLSocket:
    """Send the headers and a part of a body."""
    connection = connect(proxy, source)
    head = f"POST {path} HTTP/1.1\r\nHost: {proxy.host}\r\nContent-Type: {content_type}\r\nContent-Length: 100000\r\n\r\n"
    connection.sendall(head.encode() + b"x" * 1000)
    return connection


def spoken(proxy: Proxy, request: str) -> bytes:
    with connect(proxy) as connection:
        connection.sendall(request.encode())
        return b"".join(iter(lambda: connection.recv(10_000), b""))


def answers(proxy: Proxy, path: str, source: str) -> int:
    return proxy.session(source=source).get(f"https://{proxy.host}{path}", timeout=PATIENCE_SECONDS).status_code


@pytest.mark.parametrize(("path", "content_type"), [(UPLOAD, JSON), ("/account/login/", FORM), ("/api/v1/wallet/spend", JSON)])
def test_body_that_is_no_upload_reaches_the_node_when_it_is_complete_and_not_if_it_is_long(
    both: tuple[Node, Proxy], path: str, content_type: str
) -> None:
    node, proxy = both
    node.seen.clear()
    with connect(proxy) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: {proxy.host}\r\nContent-Type: {content_type}\r\nContent-Length: 5000000000\r\n\r\n"
        connection.sendall(head.encode())
        # Before it is sent.
        assert connection.recv(100).startswith(b"HTTP/1.1 413")
    with begin(proxy, path, content_type) as connection:
        # By the time that this one is answered, a streamed body would be there.
        assert answers(proxy, "/next", "127.0.0.1") == 200
        assert node.seen == ["/next"]
        connection.sendall(b"x" * 99_000)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
    assert node.seen == ["/next", path]


@pytest.mark.parametrize("path", [*SECRET_ADDRESSES, "/bucket/package?response-content-type=a&X-Amz-Signature=SECRET"])
def test_address_that_is_a_secret_stays_out_of_the_log(both: tuple[Node, Proxy], path: str) -> None:
    _, proxy = both
    log = proxy.folder / "access.log"
    before = log.stat().st_size
    with proxy.session() as session:
        session.get(f"https://{proxy.host}{path}", headers={"Referer": f"https://{proxy.host}{path}"}, timeout=PATIENCE_SECONDS)
    until(lambda: log.stat().st_size > before, "a line in the log")
    line = log.read_text()[before:]
    assert path[:10] in line
    assert "SECRET" not in line


@pytest.fixture(scope="module")
def without_nodes() -> Iterator[Proxy]:
    with nginx([NOBODY]) as proxy:
        yield proxy


@pytest.mark.parametrize("path", SECRET_ADDRESSES)
def test_address_that_is_a_secret_stays_out_of_both_logs_where_no_node_answers(without_nodes: Proxy, path: str) -> None:
    with without_nodes.session() as session:
        for address in (path, "/static/css/base.css"):
            answer = session.get(f"https://{without_nodes.host}{address}", headers={"Referer": f"https://{without_nodes.host}{path}"})
            assert answer.status_code == 502
        session.post(f"https://{without_nodes.host}{path}", b"x" * 3_000_000)
    request_id = answer.headers["X-Request-Id"]
    until(lambda: request_id in (without_nodes.folder / "access.log").read_text(), "the request in the log")
    for name in ("access.log", "error.log"):
        assert "SECRET" not in (without_nodes.folder / name).read_text(), name


@pytest.mark.parametrize("place", ["healthz", "readyz", "metrics"])
@pytest.mark.parametrize(
    "path", ["/{}?verbose=1", "/%{first:02x}{rest}", "//{}", "/x/../{}", "/x/..%2f{}", "/.//{}?", "/{}%3f", "/{}#x", "/{}%0a"]
)
def test_proxy_hides_monitoring_however_its_path_is_spelt(shop: Proxy, place: str, path: str) -> None:
    written = path.format(place, first=ord(place[0]), rest=place[1:])
    answer = spoken(shop, f"GET {written} HTTP/1.1\r\nHost: {shop.host}\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404"), written
    assert b'"status"' not in answer
    assert b"# HELP" not in answer


REFUSED_BY_NGINX = [
    ("GET", "/{}", {}, 502, "dependency_unavailable"),
    ("POST", "/{}", {"data": b"x" * 3_000_000}, 413, "body_too_large"),
    ("GET", "/{}", {"headers": {"X-Long": "x" * 9000}}, 431, "headers_too_large"),
]


@pytest.mark.parametrize(("method", "path", "given", "status", "code"), REFUSED_BY_NGINX)
def test_refusal_of_nginx_is_a_problem_for_the_api_and_a_page_for_people(
    without_nodes: Proxy, method: str, path: str, given: dict[str, Any], status: int, code: str
) -> None:
    with without_nodes.session() as session:
        document = session.request(method, f"https://{without_nodes.host}{path.format('api/v1/wallet')}", **given)
        page = session.request(method, f"https://{without_nodes.host}{path.format('library')}", **given)
    assert (document.status_code, document.headers["Content-Type"]) == (status, "application/problem+json")
    body, problem = document.json(), all_problems()[code]
    assert (body["code"], body["status"], body["title"]) == (code, status, problem.title)
    assert body["type"] == f"https://{without_nodes.host}/problems/{code}"
    assert (body["requestId"], body["instance"]) == (document.headers["X-Request-Id"], "/api/v1/wallet")
    assert body.get("maximumBytes") == (2 * MIB if status == 413 else None)
    assert (page.status_code, page.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert problem.title in page.text
    assert page.headers["X-Request-Id"] in page.text
    assert {document.headers.get("Retry-After"), page.headers.get("Retry-After")} == {"5" if status == 502 else None}
    assert "nginx" not in page.text


@pytest.mark.parametrize(
    ("written", "instance"),
    [("/api/v1/a+(b)!$&',;=~?q=1", "/api/v1/a+(b)!$&',;=~"), ('/api/v1/a"b', None), ("/api/v1/a\\b", None)],
)
def test_refusal_of_nginx_names_the_path_unless_it_needs_escaping(without_nodes: Proxy, written: str, instance: str | None) -> None:
    answer = spoken(without_nodes, f"GET {written} HTTP/1.1\r\nHost: {without_nodes.host}\r\nConnection: close\r\n\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]).get("instance") == instance


def test_malformed_http_request_gets_an_error_page(without_nodes: Proxy) -> None:
    answer = spoken(without_nodes, "GARBAGE\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"The request cannot be read" in answer


def test_form_with_a_file_is_streamed(both: tuple[Node, Proxy]) -> None:
    node, proxy = both
    node.seen.clear()
    with begin(proxy, UPLOAD, FORM):
        until(lambda: node.seen == [UPLOAD], "an upload that reaches the node before it is complete")


@pytest.mark.parametrize(
    ("path", "content_type", "said"),
    [(UPLOAD, FORM, b"rate_limited"), ("/account/login/", FORM, b"text/html"), ("/api/v1/wallet/spend", JSON, b"rate_limited")],
)
def test_address_that_has_too_many_open_is_refused_and_no_other(
    both: tuple[Node, Proxy], path: str, content_type: str, said: bytes
) -> None:
    _, proxy = both
    with ExitStack() as stack:
        opened = [stack.enter_context(begin(proxy, path, content_type, source="127.0.0.5")) for _ in range(MANY)]
        answer = opened[-1].recv(10_000)
        assert answer.startswith(b"HTTP/1.1 429")
        assert b"Retry-After: 2" in answer
        assert said in answer
        assert answers(proxy, "/next", "127.0.0.6") == 200


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nX-Slow: "], ids=["nothing", "headers"])
def test_connections_that_say_little_keep_nobody_out(both: tuple[Node, Proxy], head: bytes) -> None:
    _, proxy = both
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(connect(proxy, "127.0.0.5")).sendall(head)
        assert answers(proxy, "/next", "127.0.0.6") == 200


def test_responses_of_the_api_are_compressed_by_the_proxy_and_pages_by_the_node(both: tuple[Node, Proxy]) -> None:
    _, proxy = both
    with proxy.session() as session:
        answer = session.get(f"https://{proxy.host}/api/v1/assets")
        page = session.get(f"https://{proxy.host}/page")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" not in answer.text
    assert "Accept-Encoding" in page.text


@pytest.mark.parametrize(
    ("path", "content_type", "status"), [("/api/v1/wallet/spend", JSON, 401), ("/api/v1/wallet/spend", FORM, 413), (UPLOAD, FORM, 401)]
)
def test_body_that_the_node_refuses_unread_gets_its_response_and_the_node_stays_in_service(
    shop: Proxy, path: str, content_type: str, status: int
) -> None:
    refused = []
    for number in range(REFUSED):
        # A client each: nginx may close a connection whose body was refused unread, and counts it until then.
        with shop.session(source=f"127.0.0.{number + 10}") as session:
            headers = {"Content-Type": content_type}
            refused.append(session.post(f"https://{shop.host}{path}", b"x" * 1_900_000, headers=headers, timeout=PATIENCE_SECONDS))
    assert {answer.status_code for answer in refused} == {status}
    with shop.session() as session:
        assert session.get(f"https://{shop.host}/api/v1/assets", timeout=PATIENCE_SECONDS).status_code == 200
