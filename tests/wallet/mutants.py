"""Mutants of the money code, each of which the suite must kill.

    uv run --group dev python -m tests.wallet.mutants [name …]

Each is the source, or the database, with one safeguard taken out, in a copy of the tree; the tests named beside it must then fail, and pass
without it. It runs on the database of `TEST_DATABASE_URL`, or on a private PostgreSQL.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.architecture.source import PACKAGES, ROOT
from tests.servers.postgres import postgres

from .dropped import OF_THE_DATABASE
from .safeguards import OF_THE_SOURCE, Mutant

SECONDS = 900
MUTANTS = (*OF_THE_SOURCE, *OF_THE_DATABASE)
_COPIED = (*PACKAGES, "templates", "tests", "manage.py", "pyproject.toml")


def killed(mutant: Mutant | None, tests: str, database: str) -> bool:
    """Tell whether the tests fail with the mutant in the source, or without any."""
    with tempfile.TemporaryDirectory(prefix="marketplace-mutant-") as folder:
        for name in _COPIED:
            source, copy = ROOT / name, Path(folder) / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
        if mutant is not None:
            mutate(mutant, Path(folder))
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--reuse-db", *tests.split()],
            cwd=folder,
            env=os.environ | {"TEST_DATABASE_URL": database, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    # 1: tests failed, perhaps by the reconciliation after them. Anything else, such as a mutant that does not load, proves nothing.
    if result.returncode not in (0, 1):
        raise RuntimeError(result.stdout[-3000:])
    return result.returncode == 1


def mutate(mutant: Mutant, folder: Path) -> None:
    """Take the safeguard out of the copy."""
    path = folder / mutant.path
    text = path.read_text()
    if text.count(mutant.old) != 1:
        message = f"{mutant.name}: its text is there {text.count(mutant.old)} times in {mutant.path}"
        raise ValueError(message)
    text = text.replace(mutant.old, mutant.new)
    # Some mutants throw dice.
    path.write_text(text.replace('"""\n\nimport ', '"""\n\nimport random\nimport ', 1) if "random." in mutant.new else text)


def main() -> int:
    """Run the mutants; return 0 when all were killed and the untouched source passes."""
    parser = argparse.ArgumentParser(prog="python -m tests.wallet.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="run those whose name contains one of these words; all when left out")
    words = parser.parse_args().names
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]
    table = Table("mutant", "file", "outcome")
    survivors = 0
    with contextlib.ExitStack() as servers:
        database = os.environ.get("TEST_DATABASE_URL") or servers.enter_context(postgres())
        every_test = " ".join(sorted({mutant.tests for mutant in chosen}))
        if killed(None, every_test, database):
            Console().print("The tests fail without any mutant.")
            return 1
        for mutant in chosen:
            dead = killed(mutant, mutant.tests, database)
            survivors += not dead
            table.add_row(mutant.name, mutant.path, "killed" if dead else "SURVIVED")
            Console(stderr=True, width=140).print(f"{'killed' if dead else 'SURVIVED'}: {mutant.name}")
    Console(width=140).print(table)
    Console().print(f"{len(chosen) - survivors} of {len(chosen)} killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
