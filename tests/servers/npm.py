"""Programs of the npm registry, which tests install for themselves."""

import shutil
import subprocess
from pathlib import Path

from . import Unavailable

INSTALL_SECONDS = 300


def npm(folder: Path, *words: str) -> None:
    """Run `npm` in a folder, which is made."""
    program = shutil.which("npm")
    if program is None or shutil.which("node") is None:
        raise Unavailable("needs Node.js and npm")
    folder.mkdir(parents=True, exist_ok=True)
    command = [program, *words, "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel", "error"]
    try:
        subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Unavailable("npm did not answer within five minutes") from error
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"npm failed: {(error.stderr or error.stdout).strip()[-300:]}") from error
