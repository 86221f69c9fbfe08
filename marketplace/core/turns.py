"""Turns: a thread that answers request after request without waiting for anything lets the other threads answer theirs.

A thread that waits for the interpreter is woken when another gives it up, and mostly finds it taken again: answering with what is ready
takes a tenth of a millisecond, and the server gives the interpreter up for a moment after each. Python's own remedy, to demand it
after `sys.getswitchinterval()`, counts from the last time that somebody was woken in vain. So a request could stand still for half
a second while its neighbours had thousands of answers.
"""

import time
from threading import get_ident

# Five milliseconds of answers that are ready, which is that interval; and while no other thread was ever seen: there may be none, or one that waits for its first.
IN_A_ROW, ALONE = 40, 400
# As long as a thread takes to wake up.
SECONDS = 50e-6


class Turns:
    """Which thread answers, and how many requests it has answered in a row. No lock: a miscount costs a moment."""

    def __init__(self) -> None:
        self._thread = 0
        self._in_a_row = 0
        self._most = ALONE

    def take(self) -> None:
        """Begin to answer a request; whoever began so many in a row waits until another thread could begin one."""
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
