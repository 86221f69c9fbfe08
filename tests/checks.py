"""The checks that need no test run: style, types, layers, migrations, the API document, deployment settings, templates."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests import ROOT

BIN = Path(sys.executable).parent

# Production settings that are complete but lead nowhere: `check` connects to nothing.
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "marketplace.settings.production",
    "SECRET_KEY": "f1Zy7q-Rw0eXo3Bn_5Tk8uLd2Vh6Mj9Cs4Pa-Gi1Qx7Ez0Yb3Nt5Wm8",
    "CERTIFICATE_KEY": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIDq5HkrxMWb3aWIXyW2b6C+vGgxjQ6b8xDTf0uAEXAMP\n-----END PRIVATE KEY-----",
    "ALLOWED_HOSTS": "shop.example",
    "BASE_URL": "https://shop.example",
    "DATABASE_URL": "postgres://shop:secret@127.0.0.1:9/shop",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "S3_BUCKET": "shop",
    "S3_ACCESS_KEY_ID": "shop",
    "S3_SECRET_ACCESS_KEY": "secret",
    "EMAIL_URL": "smtp+tls://shop:secret@127.0.0.1:9",
    # Tests may run as root.
    "INSPECT_AS_ROOT": "true",
}
# Names of other things: of parts of what `env_url` returns, and of the servers of the tests.
NO_SETTINGS = {"NAME", "OPTIONS", "EMAIL_USE_SSL", "EMAIL_USE_TLS", "TEST_DATABASE_URL", "TEST_REDIS_URL"}


def variables() -> set[str]:
    """Return what the settings read of the environment: names in capitals that a call takes first."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "marketplace" / "settings").glob("*.py"))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    first = (call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant))
    return {name for name in first if isinstance(name, str) and re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", name)} - NO_SETTINGS


# What a developer may have set for a server of theirs must not reach the tests.
SETTINGS = {*PRODUCTION, "S3_ENDPOINT_URL", "S3_REGION", "WEB_CONCURRENCY"} | variables()
# Libraries of the confined processes.
CONFINED = ("PIL", "brotli.py", "fontTools", "numpy", "ots", "soundfile.py", "_soundfile*.py", "tinytag")


@dataclass(frozen=True)
class Check:
    """One command that must end with 0."""

    name: str
    command: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    name: str
    passed: bool
    seconds: float
    output: str = ""


def static_checks(scratch: Path) -> list[Check]:
    """Return the checks; git ignores their caches, and what they write goes to `scratch`."""
    python = sys.executable
    manage = (python, "-W", "error", "manage.py")
    return [
        # The slowest goes first, so that the others run beside it.
        Check("mypy", (python, "-m", "mypy", ".")),
        Check("ruff format", (python, "-m", "ruff", "format", "--check", ".")),
        Check("ruff check", (python, "-m", "ruff", "check", ".")),
        Check("import-linter", (str(BIN / "lint-imports"),)),
        Check("migrations", (*manage, "makemigrations", "--check", "--dry-run")),
        Check("OpenAPI", (*manage, "spectacular", "--fail-on-warn", "--validate", "--file", str(scratch / "openapi.yaml"))),
        Check("deployment", (*manage, "check", "--deploy", "--fail-level", "WARNING"), PRODUCTION),
        Check("djlint", (python, "-m", "djlint", "--lint", "--quiet", "templates")),
    ]


def clean_environment(scratch: Path) -> dict[str, str]:
    """Return our environment without the service's own settings.

    Python keeps its bytecode where it does by default: hundreds of processes would compile us anew otherwise. Memory of large files
    goes back to the system when it is freed, which glibc would otherwise stop doing after the first of them.
    """
    foreign = SETTINGS | {"PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in foreign} | {
        "DATA_DIR": str(scratch / "data"),
        "MALLOC_ARENA_MAX": "2",
        "MALLOC_MMAP_THRESHOLD_": str(128 * 1024),
        "NO_COLOR": "1",
    }


def compile_confined() -> None:
    """Compile what the inspection of uploads loads: its processes, one for each file, may not write and would compile it each time."""
    libraries = Path(sysconfig.get_path("platlib"))
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0", "-x", "/tests/"]
    command += [str(path) for name in CONFINED for path in libraries.glob(name)] + [str(ROOT / "vendors" / "sandbox")]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def run_check(check: Check, env: dict[str, str]) -> Outcome:
    began = time.monotonic()
    result = subprocess.run(
        check.command,
        cwd=ROOT,
        env=env | check.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Outcome(check.name, result.returncode == 0, time.monotonic() - began, result.stdout)
