"""An operation that declares no access stops the service."""

from typing import Any

import pytest
from django.core.checks import run_checks

from developers.checks import every_operation_declares_access


def test_undeclared_operation_is_an_error_that_names_it(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.developers.probe_undeclared"
    (error,) = run_checks(tags=["access"])
    assert (error.id, error.is_serious()) == ("developers.E001", True)
    assert error.msg == "tests.developers.probe.Undeclared.keyed declares no access."


@pytest.mark.parametrize("urls", ["marketplace.urls", "tests.developers.probe"])
def test_operations_that_declare_their_access_pass_the_check(urls: str, settings: Any) -> None:
    settings.ROOT_URLCONF = urls
    assert every_operation_declares_access() == []
