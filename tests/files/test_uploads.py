"""Uploads over a socket to the server that production runs."""

import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import ROOT
from tests.servers.ports import free_port
from tests.waiting import PATIENCE_SECONDS, end, until, until_it_answers
from vendors.uploads.receiving import safe_filename

MIB = 2**20
BOUNDARY = "----boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


class Server(NamedTuple):
    """A server under test, and the ways to talk to it."""

    port: int
    pid: int
    media: Path

    def left_behind(self) -> list[Path]:
        """Return the files that are in its store."""
        return [path for path in self.media.rglob("*") if path.is_file()]

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """Send a whole request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        connection.request("POST", path, body, {"Content-Type": MULTIPART} | (headers or {}))
        answer = connection.getresponse()
        document = json.loads(answer.read())
        connection.close()
        return answer.status, document

    def get(self, method: str, **headers: str) -> tuple[int, int, bytes]:
        """Download what was kept; return the status, the stated length and the bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        connection.request(method, "/download", headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, int(answer.headers["Content-Length"]), content

    def raw(self, head: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
        """Send exactly these bytes and wait for the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n" + body)
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            return answer.status, json.loads(answer.read())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    media = tmp_path_factory.mktemp("media")
    port, log = free_port(), media.with_name("server.log")
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--blocking-threads", "4"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "tests.files.upload_app:application"],
            cwd=ROOT,
            env=os.environ | {"UPLOAD_TEST_MEDIA": str(media), "DATA_DIR": str(media.parent)},
            stdout=output,
            stderr=output,
        )
    try:
        until_it_answers(process, f"http://127.0.0.1:{port}/", log)
        yield Server(port, process.pid, media)
    finally:
        end(process, log)


def form(content: bytes, *, name: str = "file", filename: str | None = "font.zip", close: bool = True) -> bytes:
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\nContent-Type: application/zip\r\n\r\n'
    tail = f"\r\n--{BOUNDARY}--\r\n" if close else ""
    return head.encode() + content + tail.encode()


@pytest.mark.slow
def test_expect_continue_is_answered_without_inviting_the_body(server: Server) -> None:
    head = f"POST /upload/1000 HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Type: {MULTIPART}\nContent-Length: 9999999999\n"
    status, _ = server.raw(head)
    assert status == 413


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
    until(lambda: not server.left_behind(), "a store without what was cut")
    # A whole file that the view does not keep is deleted, too.
    assert server.post("/upload/100", form(b"x"))[0] == 200
    assert server.left_behind() == []


INCOMPLETE = {
    "no boundary": form(b"x" * 100, close=False),
    "cut boundary": form(b"x" * 100)[:-8],
    "empty form": f"--{BOUNDARY}--\r\n".encode(),
    "empty body": b"",
    "text field": form(b"x", filename=None),
    "no file name": form(b"x", filename=""),
    "no form": b"not a form at all",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/upload/1000", "/small/1000"])
def test_form_without_a_whole_file_is_incomplete(server: Server, path: str) -> None:
    for name, body in INCOMPLETE.items():
        status, problem = server.post(path, body)
        assert (status, problem["code"]) == (400, "upload_incomplete"), name
        assert server.left_behind() == [], name


def test_boundary_missing_from_the_header_is_malformed(server: Server) -> None:
    status, problem = server.post("/upload/1000", form(b"x"), {"Content-Type": "multipart/form-data"})
    assert (status, problem["code"]) == (400, "malformed_body")


@pytest.mark.slow
def test_unexpected_parts_of_a_form_are_refused_by_name(server: Server) -> None:
    for body, pointer, code in (
        (form(b"x", close=False) + b"\r\n" + form(b"y"), "#/file", "too_many"),
        (form(b"x", close=False) + b"\r\n" + form(b"y", name="title", filename=None), "#/title", "unknown_field"),
        (form(b"y", name="image"), "#/image", "unknown_field"),
    ):
        status, problem = server.post("/upload/1000", body)
        assert (status, problem["code"]) == (400, "invalid_input")
        assert (problem["errors"][0]["pointer"], problem["errors"][0]["code"]) == (pointer, code)
        assert server.left_behind() == []


def test_upload_form_with_too_many_fields_is_malformed(server: Server) -> None:
    many = b"\r\n".join(form(b"", name=f"n{index}", filename=None, close=False) for index in range(250))
    status, problem = server.post("/upload/999999", many + b"\r\n" + form(b"x"))
    assert (status, problem["code"]) == (400, "malformed_body")


def test_empty_file_is_refused(server: Server) -> None:
    status, problem = server.post("/upload/1000", form(b""))
    assert (status, problem["code"]) == (400, "file_rejected")


def test_complete_upload_is_stored_unchanged(server: Server) -> None:
    content = os.urandom(MIB) + b"\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n" + os.urandom(100_000)
    status, answer = server.post(f"/upload/{len(content)}?keep", form(content, filename="C:\\fonts\\A\u0308.zip"))
    assert status == 200
    assert answer == {
        "filename": "\xc4.zip",
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "crc32": zlib.crc32(content),
    }
    (path,) = server.left_behind()
    assert path.read_bytes() == content
    assert server.get("GET") == (200, len(content) + 4, b"head" + content)
    assert server.get("HEAD") == (200, len(content) + 4, b"")
    assert server.get("GET", Range="bytes=2-7") == (206, 6, b"ad" + content[:4])
    path.unlink()


def test_client_that_aborts_a_download_does_not_affect_others(server: Server) -> None:
    content = os.urandom(4 * MIB)
    server.post(f"/upload/{len(content)}?keep", form(content))
    for _ in range(4):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(b"GET /download HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(1000)
    assert server.get("GET", Range="bytes=0-3") == (206, 4, b"head")
    (path,) = server.left_behind()
    path.unlink()


def test_small_file_is_returned_in_memory(server: Server) -> None:
    assert server.post("/small/100", form(b"x" * 100)) == (200, {"size": 100})
    assert server.post("/small/100", form(b"x" * 101))[0] == 413


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
