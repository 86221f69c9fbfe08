"""Checksums of uploads. SHA-256 and CRC-32 of a file are computed in a separate thread, in parallel with writing: both release the GIL."""

import hashlib
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from .handler import Sink

# The most blocks in the queue: enough to keep both threads busy, and few, because each takes memory.
BLOCKS_AHEAD = 4


# For the checksums of parts; the tus protocol requires SHA-1.
ALGORITHMS = ("sha1", "sha256")


class Checksum:
    """The checksum that a client announces for a part.

    Raises:
        ValueError: the algorithm is not supported.
    """

    def __init__(self, algorithm: str, expected: bytes) -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(algorithm)
        self._digest = hashlib.new(algorithm, usedforsecurity=False)
        self._expected = expected

    def update(self, block: bytes) -> None:
        """Hash the next bytes."""
        self._digest.update(block)

    @property
    def matches(self) -> bool:
        """Tell whether the bytes have the announced checksum."""
        return self._digest.digest() == self._expected


class HashedSink:
    """Passes blocks on to a sink and hashes them; the thread ends with the `with` block."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._digest = hashlib.sha256()
        self._crc32 = 0
        # The thread is started by the first block.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="upload-hash")
        self._under_way: deque[Future[None]] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def write(self, chunk: bytes) -> None:
        """Write the next bytes."""
        if len(self._under_way) == BLOCKS_AHEAD:
            self._under_way.popleft().result()
        self._under_way.append(self._pool.submit(self._hash, chunk))
        self._sink.write(chunk)

    def digests(self) -> tuple[str, int]:
        """Return the SHA-256 in hex digits and the CRC-32 of everything that was written."""
        while self._under_way:
            self._under_way.popleft().result()
        return self._digest.hexdigest(), self._crc32

    def _hash(self, chunk: bytes) -> None:
        self._digest.update(chunk)
        self._crc32 = zlib.crc32(chunk, self._crc32)
