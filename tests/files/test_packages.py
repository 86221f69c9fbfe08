"""A package opens in every program that buyers use; `python -m tests.files.packages` tries one beyond 4 GiB."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .packages import MIB, OPENERS, bought_package, program

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A downloaded package and the checksum of its deliverable."""
    with bought_package(tmp_path_factory.mktemp("packages") / "one", 5 * MIB) as found:
        yield found


@pytest.mark.parametrize("name", OPENERS)
def test_package_is_opened_by_other_programs_and_contains_the_deliverable(name: str, package: tuple[Path, str]) -> None:
    programs, take_out = OPENERS[name]
    if program(*programs) is None:
        pytest.skip(f"needs {name}")
    assert take_out(package[0]) == package[1]
