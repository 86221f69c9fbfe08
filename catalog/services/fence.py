"""PostgreSQL: the present generation from a board that processes share, without a query and without a stale moment.

A board (`boards`) holds a fence, a random word, and a state, the generation together with the fence that it was posted under. A
state counts only while its fence stands, and for a few seconds. Why a reader that finds such a state never gets an older
generation than was committed when its request began:

- A change updates the generation's row, which it holds locked until it ends, and then puts up a new fence. From there on
  every state that was posted before is void, and the commit comes later than that.
- A reader that finds no valid state takes note of the fence and then reads the row `FOR SHARE SKIP LOCKED`. It gets the row
  only when no change holds it. So a change that is under way is either seen by its lock, and nothing is posted; or it
  locks the row after the reader looked, and puts up its fence after that, which makes what the reader posts void, however
  late that arrives.
- Changes reach the board that readers trust: the row names it, and states are posted on no other. A change by a process that
  has another board (on another machine, in another cache, none) keeps the row locked, so that nothing new is posted, until every
  state has expired, and strikes the name out: for a while all readers ask the row.

Nothing has to happen after the commit, so a process that dies between any two steps leaves no valid state that is old,
and the next reader posts a new one. A board that forgets everything forgets the states as well, and one that comes back with what it
held some time ago is another server than its states name (`boards.SharedCache`).

A reader names its own board where none is named, or takes the name over from one that may be gone; then what was posted
there must have expired before its own board counts. A board that cannot be told ends the change with 503 before it commits: it
may be this process alone that does not reach it, while others are served from there. What goes off sale is not refused for that:
it outlives the states.
"""

import logging
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from django.db import connection

from marketplace.core.errors import DependencyUnavailable

from .boards import OUTLIVED_SECONDS, Board

# A name stands so long before another board takes it over, and is left out so long after a change that did not reach the board.
STANDS_SECONDS, STRUCK_SECONDS = 60, 600
# Marks a name that was taken over from another board.
TAKEN = "after another"

# What a naming is read from.
NAMING = "board, extract(epoch FROM clock_timestamp() - board_changed)::float8"

logger = logging.getLogger(__name__)


class Naming(NamedTuple):
    """The board that readers trust, as the generation's row says, and for how many seconds it has said so."""

    named: str
    age: float

    def is_of(self, board: Board) -> bool:
        """Tell whether it is this board."""
        return self.named.partition(" ")[0] == board.name

    @property
    def settled(self) -> bool:
        """Tell whether what was posted on another board before has expired."""
        return TAKEN not in self.named or self.age >= OUTLIVED_SECONDS

    @property
    def free(self) -> bool:
        """Tell whether another board may be named."""
        return self.age >= (STANDS_SECONDS if self.named else STRUCK_SECONDS)


def raise_fence(board: Board | None, naming: Naming, *, removal: bool) -> None:
    """Make every state void that readers might trust. The caller holds the generation's row.

    Args:
        board: This process's own.
        naming: What the row says that readers trust.
        removal: Something goes off sale; that waits rather than being refused.

    Raises:
        DependencyUnavailable: the board does not answer.
    """
    told = board is not None and _is_told(board)
    if not naming.named:
        return
    if board is None or not naming.is_of(board):
        logger.warning("a change of the catalog waits: it does not reach the board that readers trust, %s", naming.named)
        outlive_states()
        _name("", if_named=naming.named)
        return
    if not told and not removal:
        raise DependencyUnavailable("The cache of public answers cannot be told of the change at the moment.")
    if not told or not naming.settled:
        outlive_states()


def _is_told(board: Board) -> bool:
    try:
        board.raise_fence()
    except Exception as error:  # noqa: BLE001 - each cache backend has its own errors
        logger.warning("the board of the catalog cannot be told of a change: %r", error)
        return False
    return True


def outlive_states() -> None:
    """Wait until no state that was posted before can be valid. The caller holds the generation's row, and keeps it."""
    time.sleep(OUTLIVED_SECONDS)


def current_and_cached(
    board: Board, keys: Collection[str], found: Mapping[str, Any] | None, read: Callable[[], int]
) -> tuple[int, Mapping[str, Any]]:
    """Return the generation, without a query where a valid state is posted, and what is cached under the keys."""
    try:
        generation, found = board.look(keys, found)
    except Exception as error:  # noqa: BLE001 - as above
        logger.warning("cached answers cannot be read: %r", error)
        return read(), {}
    return (_post(board, read) if generation is None else generation), found


def _post(board: Board, read: Callable[[], int]) -> int:
    """Return the generation; post it as the state unless a change is under way."""
    # A database that is down is waited for once, not once more by `read`.
    connection.ensure_connection()
    try:
        fence, began = board.fence(), time.monotonic()
        row = _read_unless_locked()
        if row is None:
            return read()
        generation, naming = row
        if naming.is_of(board):
            if naming.settled:
                board.post(fence, generation, time.monotonic() - began)
        elif naming.free:
            _name(f"{board.name} {secrets.token_hex(8)}{f' {TAKEN}' if naming.named else ''}", if_named=naming.named)
            return generation if naming.named else _post(board, read)
    except Exception as error:  # noqa: BLE001 - as above; a database that is down says so again
        logger.warning("the generation cannot be posted: %r", error)
        return read()
    return generation


def _read_unless_locked() -> tuple[int, Naming] | None:
    with connection.cursor() as cursor:
        # One statement outside of a transaction: the lock is gone with it. A row that was changed meanwhile is read anew.
        cursor.execute(f"SELECT value, {NAMING} FROM catalog_cataloggeneration WHERE shard = 0 FOR SHARE SKIP LOCKED")  # noqa: S608 - our own columns
        row = cursor.fetchone()
    return None if row is None else (row[0], Naming(*row[1:]))


def _name(name: str, *, if_named: str) -> None:
    """Write which board readers trust, unless a change is under way or somebody else was quicker."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE catalog_cataloggeneration SET board = %s, board_changed = clock_timestamp() WHERE shard = "
            "(SELECT shard FROM catalog_cataloggeneration WHERE shard = 0 AND board = %s FOR UPDATE SKIP LOCKED)",
            [name, if_named],
        )
