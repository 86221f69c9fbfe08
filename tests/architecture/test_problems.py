"""Problems: one class, one code, one status, documented and used."""

import re

import pytest

from marketplace.core.errors import Problem, all_problems

from .source import modules

PROBLEMS = list(all_problems().values())


def test_problem_has_the_code_of_its_class_a_title_a_status_and_a_sentence() -> None:
    for problem in PROBLEMS:
        assert problem.code == re.sub(r"(?<!^)(?=[A-Z])", "_", problem.__name__).lower()
        assert 400 <= problem.status <= 599, problem
        assert problem.title, problem
        assert problem.detail == "" or problem.detail.endswith("."), problem
        # The docstring opens with the status, so that the list of problems reads as a table.
        assert (problem.__doc__ or "").startswith(f"{problem.status}: "), problem


def test_problems_are_made_in_errors_modules_only() -> None:
    homes = {problem.__module__.rpartition(".")[2] for problem in PROBLEMS}
    assert homes == {"errors"}


def test_every_problem_is_used() -> None:
    # What is imported is used, says ruff; where it is made, it may be what another is made from.
    texts = (re.sub(r"^class \w+", "", module.text, flags=re.MULTILINE) for module in modules())
    used = {word for text in texts for word in re.findall(r"\b[A-Z]\w+", text)}
    assert {problem.__name__ for problem in PROBLEMS} - used == set()


def test_code_of_a_problem_must_be_unique() -> None:
    with pytest.raises(TypeError, match="is taken by"):
        type("Elsewhere", (), {"NotFound": type("NotFound", (Problem,), {"__qualname__": "Elsewhere.NotFound"})})
