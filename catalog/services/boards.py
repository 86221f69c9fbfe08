"""Boards: where processes tell each other which generation of the catalog is the present one (`fence` says why that is safe).

Processes whose answers lie in a cache that all share have that cache for a board. Where each keeps its answers in its own memory, the
board is a small file in `DATA_DIR` that they map into theirs: reading it costs a microsecond.
"""

import hashlib
import logging
import mmap
import os
import secrets
import struct
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cache as kept
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection

from marketplace.core.redis_cache import RedisCache

# Short: changes that do not reach the board wait for it.
STATE_SECONDS = 5
# A reader that took longer to read the row posts nothing; a cache's own time limit is a second for each step.
POST_SECONDS = 1
OUTLIVED_SECONDS = STATE_SECONDS + POST_SECONDS + 3

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

logger = logging.getLogger(__name__)


class Board(Protocol):
    """Holds the fence and the state."""

    # The same for two processes only if they read and write the same board.
    name: str
    # What of it lies in the cache, and is worth reading along with something else from there.
    keys: Sequence[str]

    def look(self, keys: Collection[str], found: Mapping[str, Any] | None = None) -> tuple[int | None, Mapping[str, Any]]:
        """Return the generation if a valid state is posted, and what is cached under the keys.

        Args:
            keys: Of answers.
            found: What these and the board's own keys hold, if they were read already.
        """

    def fence(self) -> Any:
        """Return the fence as it stands, for `post`."""

    def raise_fence(self) -> None:
        """Put up a new fence."""

    def post(self, fence: Any, generation: int, age: float) -> None:
        """Post a state that was read under this fence so many seconds ago."""


class SharedCache:
    """A cache that all processes share.

    One that comes back with what it held some time ago, or whose place another takes that had not heard of everything yet, has an old
    fence with the state that was posted under it. So a state says from which start of which server its fence was read, and counts only
    for whoever asks that one.
    """

    FENCE, STATE = "catalog:fence", "catalog:state"
    keys: Sequence[str] = (FENCE, STATE)

    def __init__(self, cache: RedisCache, address: str) -> None:
        self._cache = cache
        self.name = f"cache:{address}"

    def look(self, keys: Collection[str], found: Mapping[str, Any] | None = None) -> tuple[int | None, Mapping[str, Any]]:
        """Return the generation and what is cached, in one round trip at most."""
        if found is None:
            found = self._cache.read([*self.keys, *keys])
        state, server = found.get(self.STATE), self._cache.server
        valid = state is not None and server and state[::2] == (found.get(self.FENCE), server)
        return (state[1] if state is not None and valid else None), found

    def fence(self) -> tuple[str, str] | None:
        """Return the fence and where it stands; there is one from now on. None where that is not told, or not kept."""
        fence = self._cache.read([self.FENCE]).get(self.FENCE)
        if fence is None:
            self._cache.add(self.FENCE, secrets.token_hex(8), None)
            fence = self._cache.read([self.FENCE]).get(self.FENCE)
        server = self._cache.server
        return (fence, server) if fence and server else None

    def raise_fence(self) -> None:
        """Put up a new fence."""
        self._cache.set(self.FENCE, secrets.token_hex(8), None)

    def post(self, fence: tuple[str, str] | None, generation: int, age: float) -> None:
        """Post a state; it expires by itself."""
        if fence is not None and age < POST_SECONDS:
            self._cache.set(self.STATE, (fence[0], generation, fence[1]), STATE_SECONDS)


class SharedFile:
    """A file that the processes of one machine map into their memory.

    No lock: every part is only as good as its check, so that what two write at once, or one leaves half written, counts for nothing.
    Its name tells one file from every other: from copies, and from the same file seen by another machine or before its last start,
    through which no change would be seen at once.
    """

    keys: Sequence[str] = ()

    _FENCE = slice(0, 8)
    _STATE = slice(8, 40)
    _LOOKED_AT = slice(0, 40)
    _TOKEN = slice(40, 56)
    _SIZE = mmap.PAGESIZE

    def __init__(self, path: Path) -> None:
        if not path.exists():
            _make_whole(path, secrets.token_bytes(56).ljust(self._SIZE, b"\0"))
        with path.open("r+b") as file:
            place = os.fstat(file.fileno())
            self._memory = mmap.mmap(file.fileno(), self._SIZE)
        token = self._memory[self._TOKEN].hex()
        self.name = f"file:{_digest(token, BOOT_ID.read_text(encoding='ascii'), place.st_dev, place.st_ino)}"
        # What was read last, and what it says: it need not be checked again.
        self._last: tuple[bytes, int | None, float] = (b"", None, 0.0)

    def look(self, keys: Collection[str], found: Mapping[str, Any] | None = None) -> tuple[int | None, Mapping[str, Any]]:
        """Return the generation; nothing is cached here."""
        seen, last = self._memory[self._LOOKED_AT], self._last
        if seen != last[0]:
            fence, state = seen[self._FENCE], seen[self._STATE]
            content = _checked(state)
            valid = content is not None and content[:8] == fence
            last = self._last = (seen, *(struct.unpack_from("<qd", content, 8) if content is not None and valid else (None, 0.0)))
        return (last[1] if _clock() < last[2] else None), {}

    def fence(self) -> bytes:
        """Return the fence."""
        return self._memory[self._FENCE]

    def raise_fence(self) -> None:
        """Put up a new fence."""
        self._memory[self._FENCE] = secrets.token_bytes(8)

    def post(self, fence: bytes, generation: int, age: float) -> None:
        """Post a state, good until some time after it was read."""
        content = fence + struct.pack("<qd", generation, _clock() - age + STATE_SECONDS)
        self._memory[self._STATE] = content + _check(content)


def board_of(alias: str) -> Board | None:
    """Return where processes that keep their answers in this cache meet; None where they cannot.

    Args:
        alias: The cache's name in the settings.
    """
    cache = caches[alias]
    if isinstance(cache, LocMemCache):
        database = connection.settings_dict
        return _file(settings.DATA_DIR, database["HOST"], database["PORT"], database["NAME"])
    if isinstance(cache, RedisCache):
        return SharedCache(cache, _address(str(caches.settings[alias].get("LOCATION", ""))))
    return None


@kept
def _file(folder: Path, *database: str) -> SharedFile | None:
    """Return the board of this machine's processes that use this database."""
    try:
        return SharedFile(folder / f"board-{_digest(*database)}")
    except (OSError, ValueError) as error:
        logger.warning("there is no board, every answer from memory asks the database whether it is still true: %r", error)
        return None


@kept
def _address(location: str) -> str:
    """Return a name for a server's address, whatever the credentials that it is reached by."""
    parts = urlsplit(location)
    # The database's number stands in the path or beside it.
    return _digest(parts.hostname, parts.port, parts.path, parse_qs(parts.query).get("db"))


def _make_whole(path: Path, content: bytes) -> None:
    """Make a file that nobody sees half written, unless there is one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    with os.fdopen(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
    try:
        os.link(own, path)
    except FileExistsError:
        pass
    finally:
        own.unlink()


def _clock() -> float:
    # Goes on while the machine sleeps, unlike `time.monotonic`, and is the same for all of its processes.
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _check(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()


def _checked(content: bytes) -> bytes | None:
    """Return what is before the check, None if it is not right."""
    return content[:-8] if _check(content[:-8]) == content[-8:] else None


def _digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()
