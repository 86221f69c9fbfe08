"""Fairness between server threads: a thread that answers many requests in a row yields, so that the others can run.

A cached response takes a tenth of a millisecond, after which the server releases the interpreter lock (GIL) for a moment. A waiting thread
is woken then, but mostly finds the lock taken again. CPython's own remedy, to request the lock after `sys.getswitchinterval()`, starts anew
each time that happens. So a request could stall for half a second while its neighbours got thousands of responses.
"""

import time
from threading import get_ident

# As many cached responses as fit into the switch interval of five milliseconds; and as long as no other thread has answered a request yet.
IN_A_ROW, ALONE = 40, 400
# The time that a thread takes to wake up.
SECONDS = 50e-6


class Turns:
    """Counts how many requests one thread has answered in a row. Not locked: a wrong count does no harm."""

    def __init__(self) -> None:
        self._thread = 0
        self._in_a_row = 0
        self._most = ALONE

    def take(self) -> None:
        """Called when a thread begins to answer a request: sleeps for a moment when it has answered many in a row."""
        thread = get_ident()
        if thread != self._thread:
            if self._thread:
                self._most = IN_A_ROW
            self._thread, self._in_a_row = thread, 1
        elif self._in_a_row < self._most:
            self._in_a_row += 1
        else:
            self._in_a_row = 1
            time.sleep(SECONDS)
