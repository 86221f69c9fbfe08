"""A wire to a server that can be slow or cut: it forwards connections, as fast as one likes, and breaks one that carried too much."""

import contextlib
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

BLOCK_BYTES = 64 * 1024


class Wire(socketserver.ThreadingTCPServer):
    """Forwards to a port of this machine.

    Args:
        port: Where to.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        # Little is under way: what a sender has got rid of has nearly arrived.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BLOCK_BYTES)
        self.target = port
        # Rests so long after each block.
        self.pause_seconds = 0.0
        # Connections that send more than this are broken. Browsers try a second one by themselves.
        self.cut_after: int | None = None

    @property
    def port(self) -> int:
        """Where to connect to."""
        return int(self.server_address[1])


class _Connection(socketserver.BaseRequestHandler):
    server: Wire

    def handle(self) -> None:
        """Pass bytes in both directions until one side ends."""
        with socket.create_connection(("127.0.0.1", self.server.target)) as far:
            back = threading.Thread(target=self._back, args=(far,), daemon=True)
            back.start()
            sent = 0
            with contextlib.suppress(OSError):
                while block := self.request.recv(BLOCK_BYTES):
                    sent += len(block)
                    if self.server.cut_after is not None and sent > self.server.cut_after:
                        # Broken, not ended: what is under way is lost.
                        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        self.request.close()
                        # The server must see it too, although the other thread still reads.
                        far.shutdown(socket.SHUT_RDWR)
                        return
                    far.sendall(block)
                    time.sleep(self.server.pause_seconds)
                far.shutdown(socket.SHUT_WR)
            back.join()

    def _back(self, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := far.recv(BLOCK_BYTES):
                self.request.sendall(block)
            self.request.shutdown(socket.SHUT_WR)


@contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    """Lay a wire, and take it away."""
    with Wire(port) as wire:
        threading.Thread(target=wire.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield wire
        wire.shutdown()
