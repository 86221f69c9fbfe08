"""Every longer command and benchmark of CONTRIBUTING.md runs, here or in another test, at its smallest."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import MISSED
from tests import ROOT

from .servers import migrated
from .waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.full

COMMANDS = (
    "tests.wallet.long histories --operations 50 --batch-size 2 --record {folder}",
    "tests.wallet.long races --operations 50",
    "tests.wallet.long events --events 50",
    "tests.wallet.long kills --clients 2 --servers 1",
    "tests.wallet.mutants order_quote_once",
    "tests.mutation --sample 1 --only library/services/links.py --measure tests/library/test_links.py --folder {folder}",
    "tests.files.fuzz --count 4 --jobs 1 --keep {folder}",
    "tests.files.packages --size 1",
    "tests.contract.schemathesis --examples 1 --only categories",
    "tests.attack.costs --shapes 1 --only oauth",
    "tests.screenshots --only sign-in --sizes phone --schemes light --out {folder}",
    "tests.screenshots.lighthouse --runs 1 --only 'sign up' --out {folder}",
    "benchmarks.catalog --listings 60 --engine sqlite --seconds 1 --no-file",
    "benchmarks.search --listings 1000 --engine sqlite --queries 1",
    "benchmarks.wallet --seconds 1 --clients 1 --no-file",
    "benchmarks.mcp --listings 60 --engine sqlite --calls 20 --no-file",
    "benchmarks.upload --size 1MiB --store local --repeat 1",
    "benchmarks.load --minutes 0.05 --seconds 1 --listings 60 --no-file",
    "benchmarks.inside benchmarks.seeding.seed --listings 3",
)
# `tests/faults`, `tests/mcp/test_outside.py` and `tests/nodes` run what these run.
TESTED = (
    "tests.attack.production",
    "tests.faults.resuming",
    "tests.faults.uploads",
    "tests.mcp.conformance",
    "tests.nodes.chaos",
    "tests.outages",
)
PROGRAMS = {"tests.screenshots.lighthouse": "npm", "benchmarks.catalog": "wrk"}
# A library that a command needs, and the dependency group that brings it.
GROUPS = {"benchmarks.load": ("locust", "load"), "tests.mutation": ("cosmic_ray", "mutation")}
# A minute is usual.
SECONDS = 3 * PATIENCE_SECONDS


def test_every_documented_command_is_run() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    documented = {name for name in re.findall(r"`((?:tests|benchmarks)\.[\w.]+)[ `]", text) if _is_command(name)}
    assert documented == {*TESTED, *(command.split()[0] for command in COMMANDS)}


def _is_command(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return (path / "__main__.py").exists() or '__name__ == "__main__"' in path.with_suffix(".py").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_smallest_run_ends_well(command: str, tmp_path: Path) -> None:
    module, *arguments = shlex.split(command.format(folder=tmp_path))
    env = dict(os.environ)
    if module == "benchmarks.inside":
        # It fills the database that the settings name.
        env |= {"DJANGO_SETTINGS_MODULE": "marketplace.settings.embedded", "DATA_DIR": str(tmp_path)}
        migrated.copy_sqlite(tmp_path / "marketplace.sqlite3")
    program = PROGRAMS.get(module)
    if program and shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    library, group = GROUPS.get(module, ("pytest", "dev"))
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"needs the dependency group {group}")
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    # What is measured so briefly, beside other tests, says nothing of goals.
    assert done.returncode in {0, MISSED}, done.stdout[-5000:]


def test_initial_migrations_are_those_that_the_command_writes(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__", "node_modules", "var"))
    subprocess.run([sys.executable, "-m", "tests.upgrade.initial"], cwd=tree, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    written = {path.relative_to(tree): path.read_text(encoding="utf-8") for path in tree.rglob("migrations/0001_initial.py")}
    assert len(written) > 5
    assert written == {path: (ROOT / path).read_text(encoding="utf-8") for path in written}
