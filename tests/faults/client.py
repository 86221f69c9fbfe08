"""A client that sends an upload in given pieces, and reads a response that arrives before the upload is complete."""

import http.client
import json
import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BOUNDARY = "----boundary"
PIECE_BYTES = 64 * 1024
ANSWER_SECONDS = 300


@dataclass(frozen=True)
class Answer:
    """What came back, and how much had been sent by then."""

    status: int
    document: dict[str, Any]
    sent: int


class Cut(Exception):
    """The connection ended without an answer."""


def form(content: bytes) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="work.zip"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


class Upload:
    """One request on a connection of its own."""

    def __init__(self, port: int, path: str, headers: dict[str, str], length: int | None) -> None:
        self.sent = 0
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        # Else megabytes are under way unread, as many as the system is set to.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE_BYTES)
        given = {"Host": f"127.0.0.1:{port}", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} | headers
        if length is not None:
            given["Content-Length"] = str(length)
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value), "", ""]
        self._socket.sendall("\r\n".join(lines).encode())

    def send(self, body: bytes, until: int | None = None) -> None:
        """Send up to a place in the body, or until an answer comes."""
        view = memoryview(body)[: len(body) if until is None else until]
        self._socket.setblocking(False)
        try:
            while self.sent < len(view):
                heard, free, _ = select.select([self._socket], [self._socket], [], ANSWER_SECONDS)
                if heard or not free:
                    return
                self.sent += self._socket.send(view[self.sent : self.sent + PIECE_BYTES])
        except (BrokenPipeError, ConnectionResetError):
            return
        finally:
            self._socket.settimeout(ANSWER_SECONDS)

    def answer(self) -> Answer:
        """Wait for the answer."""
        answer = http.client.HTTPResponse(self._socket)
        try:
            answer.begin()
            return Answer(answer.status, json.loads(answer.read()), self.sent)
        except (ConnectionError, http.client.HTTPException, ValueError) as error:
            raise Cut from error
        finally:
            self.close()

    def reset(self) -> None:
        """End the connection with a reset, as a client that crashes does."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def half_close(self) -> None:
        """Say that nothing more comes, and listen."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def upload(port: int, path: str, headers: dict[str, str], body: bytes) -> Answer:
    request = Upload(port, path, headers, len(body))
    request.send(body)
    return request.answer()


def break_off(port: int, path: str, headers: dict[str, str], body: bytes, *, at: int, wait: float, act: Callable[[Upload], None]) -> None:
    """Send up to a place, wait, and do something to the connection or the server; an answer is of no interest."""
    request = Upload(port, path, headers, len(body))
    request.send(body, at)
    time.sleep(wait)
    act(request)
    request.close()
