"""Uploads over a socket to the server that production runs."""

import hashlib
import os
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import requests

from tests.servers.ports import free_port
from tests.servers.process import Process, granian
from tests.waiting import PATIENCE_SECONDS, until
from vendors.uploads.receiving import safe_filename

from .helpers import BOUNDARY, MULTIPART, form, stored

MIB = 2**20


class Server(NamedTuple):
    """A server under test."""

    port: int
    media: Path

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def upload(self, path: str, body: bytes) -> requests.Response:
        return requests.post(self.address(path), body, headers={"Content-Type": MULTIPART}, timeout=PATIENCE_SECONDS)

    def download(self, method: str, **headers: str) -> tuple[int, int, bytes]:
        """Return the status, the stated length and the bytes of what was kept."""
        answer = requests.request(method, self.address("/download"), headers=headers, timeout=PATIENCE_SECONDS)
        return answer.status_code, int(answer.headers["Content-Length"]), answer.content


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    media = tmp_path_factory.mktemp("media")
    port, log = free_port(), media.with_name("server.log")
    env = os.environ | {"UPLOAD_TEST_MEDIA": str(media), "DATA_DIR": str(media.parent)}
    command = granian(port, "--blocking-threads", "4", application="tests.files.upload_app:application")
    server = Server(port, media)
    with Process(command, env, log).serving(server.address("/")):
        yield server


@pytest.mark.slow
def test_expect_continue_is_answered_without_inviting_the_body(server: Server) -> None:
    head = f"POST /upload/1000 HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Type: {MULTIPART}\nContent-Length: 9999999999\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("half", [False, True], ids=["closed", "half closed"])
def test_cut_connection_leaves_nothing(half: bool, server: Server) -> None:  # noqa: FBT001 - a case of the table
    body = form(b"x" * MIB)
    head = f"POST /upload/9999999 HTTP/1.1\nHost: x\nContent-Type: {MULTIPART}\nContent-Length: {len(body)}\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n" + body[: MIB // 2])
        if half:
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(100)
            assert answer == b"" or b" 400 " in answer
    until(lambda: not stored(server.media), "a store without what was cut")
    # A whole file that the view does not keep is deleted, too.
    assert server.upload("/upload/100", form(b"x")).status_code == 200
    assert stored(server.media) == []


def test_complete_upload_is_stored_unchanged(server: Server) -> None:
    content = os.urandom(MIB) + b"\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n" + os.urandom(100_000)
    answer = server.upload(f"/upload/{len(content)}?keep", form(content, filename="C:\\fonts\\A\u0308.zip"))
    assert answer.json() == {
        "filename": "\xc4.zip",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "crc32": zlib.crc32(content),
    }
    assert stored(server.media) == ["deliverables/one"]
    assert (server.media / "deliverables/one").read_bytes() == content
    assert server.download("GET") == (200, len(content) + 4, b"head" + content)
    assert server.download("HEAD") == (200, len(content) + 4, b"")
    assert server.download("GET", Range="bytes=2-7") == (206, 6, b"ad" + content[:4])
    (server.media / "deliverables/one").unlink()


def test_client_that_aborts_a_download_does_not_affect_others(server: Server) -> None:
    content = os.urandom(4 * MIB)
    server.upload(f"/upload/{len(content)}?keep", form(content))
    for _ in range(4):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(b"GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000)
    assert server.download("GET", Range="bytes=0-3") == (206, 4, b"head")
    (server.media / "deliverables/one").unlink()


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\font.otf", "font.otf"),
        ("a\x00b\r\nc.zip", "abc.zip"),
        ("evil\u202egnp.exe", "evilgnp.exe"),
        ("...", "file"),
        ("", "file"),
        ("x" * 300 + ".tar", "x" * 196 + ".tar"),
        ("x" * 300, "x" * 200),
        ("A\u0308.otf", "\xc4.otf"),
    ],
)
def test_file_name_becomes_a_plain_base_name(given: str, safe: str) -> None:
    assert safe_filename(given) == safe
