"""The checks that need no test run: style, types, layers, migrations, the API document, deployment settings, templates."""

import os
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
# What a developer may have set for a server of theirs must not reach the tests.
OPTIONAL = {
    "ACCESS_LOG",
    "LOG_FORMAT",
    "METRICS_DIR",
    "METRICS_TOKEN",
    "OTEL_ENDPOINT",
    "OTEL_PERCENT",
    "READY_REQUIRES",
    "SENTRY_DSN",
    "SECRET_KEY_FALLBACKS",
    "SLOW_QUERY_MS",
    "STATIC_ROOT",
    "ADMIN_REQUIRES_SECOND_FACTOR",
    "CERTIFICATE_RETIRED_KEYS",
    "DATABASE_POOL_SIZE",
    "DATABASE_POOL_TIMEOUT",
    "DATABASE_STATEMENT_TIMEOUT",
    "DATA_DIR",
    "DEBUG",
    "GRANIAN_BLOCKING_THREADS",
    "REQUESTS_AT_ONCE",
    "DEFAULT_FROM_EMAIL",
    "S3_ENDPOINT_URL",
    "S3_PUBLIC_ENDPOINT_URL",
    "S3_REGION",
    "TRUSTED_PROXIES",
    "SANDBOX",
    "WEB_CONCURRENCY",
    "WORKER_IN_SERVER",
    "TRUST_PROXY_HEADERS",
    "LOG_LEVEL",
}
SETTINGS = {*PRODUCTION} | OPTIONAL
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
    """Run one check and keep what it says."""
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
