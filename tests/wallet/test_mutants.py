"""The mutants are of the source as it is; `python -m tests.wallet.mutants` runs them."""

import shutil
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

from .mutants import MUTANTS, mutate
from .safeguards import Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_changes_the_source_and_still_is_python(mutant: Mutant, tmp_path: Path) -> None:
    copy = tmp_path / mutant.path
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / mutant.path, copy)
    mutate(mutant, tmp_path)
    changed = copy.read_text()
    assert changed != (ROOT / mutant.path).read_text()
    compile(changed, mutant.path, "exec")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_hunted_by_a_test_that_exists(mutant: Mutant) -> None:
    path, _, name = mutant.tests.partition("::")
    assert f"def {name}(" in (ROOT / path).read_text()
