"""Programs of npm, kept outside the tree between test runs."""

import shutil
from pathlib import Path

from tests.servers import installed
from tests.servers.npm import npm

HERE = Path(__file__).resolve().parent


def install() -> Path:
    """Return the `node_modules` that `package-lock.json` pins."""
    lock = HERE / "package-lock.json"

    def make(folder: Path) -> None:
        for file in (HERE / "package.json", lock):
            shutil.copy(file, folder / file.name)
        # Their own scripts are not needed, and not run.
        npm(folder, "ci", "--ignore-scripts")

    return installed("npm", lock.read_text("utf-8"), make) / "node_modules"


def install_packages(name: str, *packages: str) -> Path:
    """Return the `node_modules` of packages with their versions, in a folder of this name."""
    return installed(f"npm-{name}", " ".join(packages), lambda folder: npm(folder, "install", *packages)) / "node_modules"
