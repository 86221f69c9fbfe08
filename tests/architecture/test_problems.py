"""Problems: one class, one code, one status, documented and used."""

import ast
import re

import pytest

from marketplace.core.errors import Problem, all_problems

from .source import modules

PROBLEMS = list(all_problems().values())
by_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.code)


@by_problem
def test_code_of_a_problem_is_the_name_of_its_class(problem: type[Problem]) -> None:
    assert problem.code == re.sub(r"(?<!^)(?=[A-Z])", "_", problem.__name__).lower()
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", problem.code)


@by_problem
def test_problem_has_a_title_a_status_and_a_sentence(problem: type[Problem]) -> None:
    assert 400 <= problem.status <= 599
    assert problem.title
    assert not problem.title.endswith(".")
    assert problem.detail == "" or problem.detail.endswith(".")
    # The docstring opens with the status, so that the list of problems reads as a table.
    assert (problem.__doc__ or "").startswith(f"{problem.status}: ")


def test_problems_are_made_in_errors_modules_only() -> None:
    homes = {problem.__module__.rpartition(".")[2] for problem in PROBLEMS}
    assert homes == {"errors"}


def test_every_problem_is_used() -> None:
    used = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    assert {problem.__name__ for problem in PROBLEMS} - used == set()


def test_code_of_a_problem_must_be_unique() -> None:
    with pytest.raises(TypeError, match="is taken by"):
        type("Elsewhere", (), {"NotFound": type("NotFound", (Problem,), {"__qualname__": "Elsewhere.NotFound"})})
