"""Servers and programs that the tests start for themselves."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from unittest import SkipTest

from tests import ROOT


class Unavailable(SkipTest):
    """A server or program cannot be had here; the argument says why. A test that needs it is skipped."""


def installed(name: str, wanted: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that is kept between runs, filled by `make` whenever something else is wanted; several processes may call at once."""
    folder = Path(os.environ.get("TEST_SERVERS_DIR") or ROOT / "var" / "test-servers") / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / "ready"
        if not ready.exists() or ready.read_text("utf-8") != wanted:
            make(folder)
            ready.write_text(wanted, "utf-8")
    return folder
