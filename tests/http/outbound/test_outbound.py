import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marketplace.http import outbound
from marketplace.http.outbound import Failed, Refused
from tests.servers.certificate import tls_server
from tests.waiting import PATIENCE_SECONDS

from .servers import says, serving, trickles

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
Resolving = Callable[..., list[str]]


@pytest.fixture
def loopback(settings: Any) -> None:
    settings.OUTBOUND_LOOPBACK = True


@pytest.fixture
def resolving(monkeypatch: pytest.MonkeyPatch) -> Resolving:
    """Make names stand for the addresses of the test; what was looked up is listed."""
    real = socket.getaddrinfo

    def resolve(*answers: list[str]) -> list[str]:
        asked: list[str] = []
        left = list(answers)

        def lookup(host: str, port: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                ipaddress.ip_address(host)
            except ValueError:
                asked.append(host)
                found = left.pop(0) if len(left) > 1 else left[0]
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found]
            return real(host, port, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        return asked

    return resolve


@pytest.fixture
def connects_nowhere(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    reached: list[Any] = []

    def connect(line: socket.socket, address: Any) -> None:
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    return reached


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/",
        "https:///path",
        "https://user:secret@shop.example/",
        "https://shop.example/#part",
        "https://shop.example:0/",
        "https://shop.example:70000/",
        "https://shop.example\\@10.0.0.1/",
        "https://shop.example/a b",
        "https://shop.example/\r\nX-Made: up",
        "https://bücher.example/",
        "https://shop.example/" + "a" * 2000,
    ],
)
def test_malformed_outbound_url_is_refused_without_a_dns_lookup(url: str, resolving: Resolving) -> None:
    asked = resolving(["93.184.215.14"])
    with pytest.raises(Refused):
        outbound.check_url(url)
    with pytest.raises(Refused):
        outbound.request("GET", url)
    assert asked == []


@pytest.mark.parametrize(
    "address",
    [
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "169.254.169.254",
        "192.0.0.8",
        "192.88.99.1",
        "224.0.1.1",
        "240.0.0.1",
        "::1",
        "::ffff:93.184.215.14",
        "64:ff9b::a9fe:a9fe",
        "2001:db8::1",
        "2001::7f00:1",
        "2002:7f00:1::",
        "3fff::1",
        "fd00:ec2::254",
        "fe80::1%eth0",
        "fec0::1",
        # Beside a public one.
        "93.184.215.14 10.0.0.1",
    ],
)
def test_outbound_url_of_a_non_public_address_is_refused_without_connecting(
    address: str, resolving: Resolving, connects_nowhere: list[Any]
) -> None:
    resolving(address.split())
    with pytest.raises(Refused) as refusal:
        outbound.request("GET", "https://inside.example/")
    assert connects_nowhere == []
    # Whoever named it is not told what our name servers know.
    assert address not in str(refusal.value)


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://2130706433/", "https://localhost/", "https://[::ffff:7f00:1]/"])
def test_outbound_url_with_an_internal_ip_address_is_refused(url: str, connects_nowhere: list[Any]) -> None:
    with pytest.raises(Refused):
        outbound.request("GET", url)
    assert connects_nowhere == []


def test_network_of_the_operators_list_is_refused(settings: Any, resolving: Resolving, connects_nowhere: list[Any]) -> None:
    settings.OUTBOUND_REFUSED_NETWORKS = ["93.184.0.0/16"]
    resolving(["93.184.215.14"])
    with pytest.raises(Refused):
        outbound.request("GET", "https://ours.example/")
    assert connects_nowhere == []


def test_outbound_request_connects_to_the_address_that_was_checked(resolving: Resolving, connects_nowhere: list[Any]) -> None:
    asked = resolving(["93.184.215.14"], ["127.0.0.1"])
    with pytest.raises(Failed):
        outbound.request("GET", "https://changing.example/")
    assert asked == ["changing.example"]
    assert connects_nowhere == [("93.184.215.14", 443)]


@pytest.mark.parametrize(("scheme", "address"), [("http", "93.184.215.14"), ("https", "10.0.0.1")])
def test_public_address_in_plain_text_and_private_address_stay_refused_with_loopback_open(
    scheme: str, address: str, loopback: None, resolving: Resolving, connects_nowhere: list[Any]
) -> None:
    resolving([address])
    with pytest.raises(Refused):
        outbound.request("GET", f"{scheme}://shop.example/")
    assert connects_nowhere == []


def test_outbound_request_to_an_unknown_host_fails() -> None:
    with pytest.raises(Failed):
        outbound.request("GET", "https://nowhere.invalid/")


def test_hanging_dns_lookups_block_neither_others_nor_the_exit_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def look(host: str, *args: Any, **kwargs: Any) -> list[Any]:
        if host == "slow.example":
            answered.wait(PATIENCE_SECONDS)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look)
    # Those of a test before may still be on their way out.
    before = threading.enumerate()
    for _ in range(5):
        with pytest.raises(Failed):
            outbound.request("GET", "https://slow.example/", seconds=0.05)
    with pytest.raises(Refused):
        outbound.request("GET", "https://quick.example/", seconds=PATIENCE_SECONDS)
    hanging = [thread for thread in threading.enumerate() if thread.name.startswith("outbound-lookup") and thread not in before]
    answered.set()
    assert len(hanging) == 5
    assert all(thread.daemon for thread in hanging)


def test_outbound_response_is_returned(loopback: None) -> None:
    with serving(says(_OK)) as server:
        url = f"http://127.0.0.1:{server.port}/hook?a=1"
        answer = outbound.request("POST", url, headers={"X-Signature": "s", "Host": "forged"}, body=b"{}")
    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"
    head = server.requests[0]
    assert head.startswith(b"POST /hook?a=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{server.port}\r\n".encode() in head
    assert b"X-Signature: s\r\n" in head
    assert b"forged" not in head


def test_proxy_of_the_environment_is_not_used(loopback: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says(_OK)) as server, serving(says(_OK)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        outbound.request("GET", f"http://127.0.0.1:{server.port}/")
    assert (len(server.requests), proxy.requests) == (1, [])


def test_redirect_is_not_followed(loopback: None) -> None:
    with serving(says(_OK)) as inner:
        moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{inner.port}/\r\nContent-Length: 0\r\n\r\n"
        with serving(says(moved.encode())) as server:
            answer = outbound.request("GET", f"http://127.0.0.1:{server.port}/")
    assert (answer.status, inner.requests) == (302, [])


def test_large_response_is_read_no_further_than_wanted(loopback: None) -> None:
    with serving(says(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100_000)) as server:
        answer = outbound.request("GET", f"http://127.0.0.1:{server.port}/", max_bytes=10)
    assert answer.body == b"a" * 10


def test_compressed_response_is_not_unpacked(loopback: None) -> None:
    with serving(says(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")) as server:
        answer = outbound.request("GET", f"http://127.0.0.1:{server.port}/")
    assert answer.body == b"abc"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["headers", "body", "chunks", "interim answers"],
)
def test_outbound_response_that_arrives_too_slowly_is_cut_off(loopback: None, beginning: bytes, drop: bytes) -> None:
    with serving(trickles(beginning, drop)) as server:
        begun = time.monotonic()
        with pytest.raises(Failed):
            outbound.request("GET", f"http://127.0.0.1:{server.port}/", seconds=0.4)
        assert time.monotonic() - begun < PATIENCE_SECONDS / 2


@pytest.mark.parametrize(
    "answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200]
)
def test_malformed_outbound_response_fails(loopback: None, answer: bytes) -> None:
    with serving(says(answer)) as server, pytest.raises(Failed):
        outbound.request("GET", f"http://127.0.0.1:{server.port}/")


def test_header_with_a_line_break_is_never_sent(loopback: None) -> None:
    with serving(says(_OK)) as server, pytest.raises(Failed):
        outbound.request("GET", f"http://127.0.0.1:{server.port}/", headers={"X-Event": "a\r\nX-Made: up"})
    assert all(b"X-Made" not in head for head in server.requests)


def test_certificate_is_asked_for_and_checked_by_name(
    loopback: None, resolving: Resolving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tls, trusted = tls_server(tmp_path, "client.example")
    monkeypatch.setattr(outbound, "_tls", lambda: ssl.create_default_context(cafile=trusted))
    resolving(["127.0.0.1"])
    with serving(says(_OK), tls) as server:
        assert outbound.request("GET", f"https://client.example:{server.port}/me").status == 200
        with pytest.raises(Failed, match="certificate"):
            outbound.request("GET", f"https://other.example:{server.port}/me")
    assert server.names == ["client.example", "other.example"]
    assert f"Host: client.example:{server.port}\r\n".encode() in server.requests[0]


def test_outbound_request_with_an_untrusted_tls_certificate_fails(loopback: None, resolving: Resolving, tmp_path: Path) -> None:
    tls, _ = tls_server(tmp_path, "client.example")
    resolving(["127.0.0.1"])
    with serving(says(_OK), tls) as server, pytest.raises(Failed, match="certificate"):
        outbound.request("GET", f"https://client.example:{server.port}/")
    assert server.requests == []


def test_second_address_of_a_host_is_tried_if_the_first_refuses(loopback: None, resolving: Resolving) -> None:
    with serving(says(_OK)) as server:
        resolving(["::1", "127.0.0.1"])
        assert outbound.request("GET", f"http://two.example:{server.port}/").status == 200
