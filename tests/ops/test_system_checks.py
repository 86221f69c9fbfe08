"""What Django checks at each start, on the engine that is served."""

import pytest
from django.core.checks import run_checks

pytestmark = pytest.mark.database


@pytest.mark.django_db
def test_start_with_a_database_prints_no_warning() -> None:
    assert [message for message in run_checks(databases=["default"]) if not message.is_silenced()] == []
