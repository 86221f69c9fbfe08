"""Programs of npm, kept outside the tree between test runs."""

import fcntl
import os
import shutil
from pathlib import Path

from tests import ROOT
from tests.servers.npm import npm

HERE = Path(__file__).resolve().parent


def install() -> Path:
    """Return the `node_modules` that `package-lock.json` pins."""
    lock = HERE / "package-lock.json"
    # Their own scripts are not needed, and not run.
    return _kept("npm", lock.read_text("utf-8"), "ci", "--ignore-scripts", files=(HERE / "package.json", lock))


def install_packages(name: str, *packages: str) -> Path:
    """Return the `node_modules` of packages with their versions, in a folder of this name."""
    return _kept(f"npm-{name}", " ".join(packages), "install", *packages)


def _kept(name: str, wanted: str, *words: str, files: tuple[Path, ...] = ()) -> Path:
    """Run npm in a folder at the first call and after each change of what is wanted; several test processes may call at once."""
    folder = Path(os.environ.get("TEST_SERVERS_DIR") or ROOT / "var" / "test-servers") / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / "ready"
        if not ready.exists() or ready.read_text("utf-8") != wanted:
            for file in files:
                shutil.copy(file, folder / file.name)
            npm(folder, *words)
            ready.write_text(wanted, "utf-8")
    return folder / "node_modules"
