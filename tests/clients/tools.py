"""Programs of npm, pinned by package-lock.json and kept outside the tree between test runs."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALL_SECONDS = 300


class Unavailable(Exception):
    """The programs cannot be had here; the argument says why."""


def install() -> Path:
    """Return `node_modules`, made at the first call and after each change of the lock; several test processes may call at once.

    Raises:
        Unavailable: there is no npm, or it could not get them.
    """
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Unavailable("needs Node.js and npm")
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
            _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
            ready.write_bytes(wanted)
    return folder / "node_modules"


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Unavailable("npm did not get them within five minutes") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
        raise Unavailable(f"npm could not install them: {' '.join(said)}") from error
