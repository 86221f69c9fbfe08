"""Measures the time and memory of an inspection: a recorder starts its child, and reads the child's usage at its end."""

import sys
from pathlib import Path
from typing import NamedTuple

from tests.waiting import until

# The recorder lives in a session of its own, so that it outlives the group that the parent ends; it holds no end of the line. The memory
# that a child has taken at most begins with that of the process which starts it: a small one, not ours.
RECORDER = """#!{python} -SE
import os, sys
if os.fork():
    os.close(0), os.close(1)
    os.wait()
    sys.exit()
os.setsid()
child = os.posix_spawn({python!r}, [{python!r}, *sys.argv[1:]], os.environ)
os.close(0), os.close(1)
usage = os.wait4(child, 0)[2]
with open({log!r}, "a") as log:
    log.write(f"{{usage.ru_maxrss}} {{usage.ru_utime + usage.ru_stime}}\\n")
"""


class Usage(NamedTuple):
    """What one child took, with what it started."""

    mib: float
    cpu_seconds: float


class Recorder:
    """Stands in for the interpreter that children are started with."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "usage"
        self.program = folder / "recorder"
        self.program.write_text(RECORDER.format(python=sys.executable, log=str(self.log)))
        self.program.chmod(0o700)
        self.log.touch()

    def last(self) -> Usage:
        """Return the usage of the child that has just been heard; it may still be on its way out."""
        until(lambda: self.log.read_text().endswith("\n"), "the end of the child")
        kib, seconds = self.log.read_text().split()[-2:]
        return Usage(int(kib) / 1024, float(seconds))
