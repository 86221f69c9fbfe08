"""A proxy in front of a server: open, shut (no listener, connections are cut), silent (accepts connections and sends nothing) or slow."""

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .ports import free_port

T = TypeVar("T")
CHUNK = 65_536


class Gate:
    """Passes bytes between a port of its own and a server's.

    Args:
        target: The server's port on loopback.

    Attributes:
        cut_after: Connections of which more bytes than this come are cut; None cuts none.
        received: The bytes that came from clients.
    """

    cut_after: int | None = None
    received = 0

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self.target = target
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._delay = 0.0
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name=f"gate-{target}")
        self._thread.start()
        self.open()

    def open(self) -> None:
        """Let everything pass."""
        self._run(self._open())

    def shut(self) -> None:
        """Cut every connection; nobody listens, as after the server's end."""
        self._run(self._shut())

    def silence(self) -> None:
        """Take connections and pass nothing on, as a server does that hangs."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def slow(self, seconds: float) -> None:
        """Hold back whatever passes, in either direction, for so long; 0 ends it."""
        self._delay = seconds

    def remove(self) -> None:
        """End the gate."""
        self.shut()
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _open(self) -> None:
        self._flowing.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            for listener in self._server.sockets:
                # Little is under way: what a sender has got rid of has nearly arrived.
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHUNK)

    async def _shut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        # What was silent ends.
        self._flowing.set()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            onward_reader, onward = await asyncio.open_connection("127.0.0.1", self.target)
            self._writers.add(onward)
            try:
                await asyncio.gather(self._copy(reader, onward, counted=True), self._copy(onward_reader, writer))
            finally:
                self._writers.discard(onward)
                onward.transport.abort()
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counted: bool = False) -> None:
        passed = 0
        while data := await reader.read(CHUNK):
            passed += len(data)
            self.received += len(data) if counted else 0
            if counted and self.cut_after is not None and passed > self.cut_after:
                raise ConnectionAbortedError
            await self._flowing.wait()
            if self._delay:
                await asyncio.sleep(self._delay)
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


@contextmanager
def gate(target: int) -> Iterator[Gate]:
    made = Gate(target)
    try:
        yield made
    finally:
        made.remove()
