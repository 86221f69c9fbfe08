"""Programs of npm, pinned by package-lock.json and kept outside the tree between test runs."""

import fcntl
import os
import shutil
from pathlib import Path

from tests import ROOT
from tests.servers.npm import npm

HERE = Path(__file__).resolve().parent


def install() -> Path:
    """Return `node_modules`, made at the first call and after each change of the lock; several test processes may call at once.

    Raises:
        Unavailable: there is no npm, or it could not get them.
    """
    folder = Path(os.environ.get("TEST_SERVERS_DIR") or ROOT / "var" / "test-servers") / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package-lock.json").read_bytes()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / "ready"
        if not ready.exists() or ready.read_bytes() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, folder / name)
            # Their own scripts are not needed, and not run.
            npm(folder, "ci", "--ignore-scripts")
            ready.write_bytes(wanted)
    return folder / "node_modules"
