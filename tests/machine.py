"""Installs on a Debian machine what all tests need; elsewhere nothing is installed."""

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .servers import postgres, redis

# The first draws pages alone, without the windows around them, in a third of the time.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Its name differs between releases.
SEVEN_ZIP = ("7z", "7zz", "7za")

# Debian package, and whether it is there already.
PACKAGES: dict[str, Callable[[], bool]] = {
    "postgresql": lambda: postgres.find_programs() is not None,
    "redis-server": lambda: redis.find_program() is not None,
    "chromium-headless-shell": lambda: shutil.which("chromium-headless-shell") is not None,
    "fonts-dejavu-core": lambda: Path("/usr/share/fonts/truetype/dejavu").exists(),
    # A variable font, one in colour, two for Chinese and Japanese, and one of cubic curves.
    **{
        package: partial(Path.exists, Path("/usr/share", path))
        for package, path in {
            "fonts-inter-variable": "fonts/truetype/inter-vf",
            "fonts-noto-color-emoji": "fonts/truetype/noto/NotoColorEmoji.ttf",
            "fonts-wqy-microhei": "fonts/truetype/wqy",
            "fonts-ipaexfont-gothic": "fonts/opentype/ipaexfont-gothic",
            "fonts-cantarell": "fonts/opentype/cantarell",
        }.items()
    },
    "nginx-light": lambda: shutil.which("nginx") is not None,
    "curl": lambda: shutil.which("curl") is not None,
    "unzip": lambda: shutil.which("unzip") is not None,
    "7zip": lambda: any(map(shutil.which, SEVEN_ZIP)),
    "libarchive-tools": lambda: shutil.which("bsdtar") is not None,
}
INSTALL_SECONDS = 600


def missing_packages() -> list[str]:
    """Return the packages whose programs are not here."""
    return [package for package, present in PACKAGES.items() if not present()]


def may_install() -> bool:
    """Tell whether this is Debian and we are root."""
    release = Path("/etc/os-release")
    return (
        os.geteuid() == 0
        and shutil.which("apt-get") is not None
        and release.exists()
        and "\nID=debian\n" in "\n" + release.read_text("utf-8")
    )


def prepare() -> None:
    """Install what is missing; whatever goes wrong, the tests go on without it."""
    _apt("update")
    if not _apt("install", *missing_packages()):
        # One that this release does not have must not take the others with it.
        for package in missing_packages():
            _apt("install", package)
        if not any(map(shutil.which, CHROMIUM)):
            _apt("install", "chromium")


def _apt(*words: str) -> bool:
    # RUNLEVEL=1 keeps packages from starting services: the tests start their own.
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    command = ["apt-get", "--quiet", "--quiet", "--yes", "--no-install-recommends", *words]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 0
