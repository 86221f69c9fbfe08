"""The package manager uv, which runs programs with the packages that they name."""

import os
import shutil
import subprocess

from . import Unavailable

# How this machine reaches package indexes; nothing that tells who runs it.
_OF_THE_MACHINE = ("UV_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def variables() -> dict[str, str]:
    """Return the variables that uv needs in an empty home, with the cache of packages that this machine has."""
    program = shutil.which("uv")
    if program is None:
        raise Unavailable("needs uv")
    cache = subprocess.run([program, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    machine = {name: value for name, value in os.environ.items() if name.upper().startswith(_OF_THE_MACHINE)}
    return {**machine, "PATH": os.environ["PATH"], "UV_CACHE_DIR": cache}
