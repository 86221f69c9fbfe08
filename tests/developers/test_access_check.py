"""An operation that declares no access stops the service."""

from typing import Any

from django.core.checks import run_checks


def test_undeclared_operation_is_an_error_that_names_it(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.developers.probe_undeclared"
    (error,) = run_checks(tags=["access"])
    assert (error.id, error.is_serious()) == ("developers.E001", True)
    assert error.msg == "tests.developers.probe.Undeclared.keyed declares no access."
