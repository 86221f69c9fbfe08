"""The audit log is append-only, whoever changes the database."""

from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import IntegrityError, connection, transaction

from marketplace.core import audit
from marketplace.core.apps import AUDIT_LOG_TRIGGERS
from marketplace.core.models import AuditEntry
from tests.factories import UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ON_POSTGRESQL = connection.vendor == "postgresql"


@pytest.fixture
def entry() -> AuditEntry:
    user = UserFactory()
    return audit.record("user.deactivate", user, actor=user, reason="Abuse")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE core_auditentry SET reason = 'other'",
        "DELETE FROM core_auditentry",
        "INSERT INTO core_auditentry SELECT * FROM core_auditentry WHERE true ON CONFLICT (id) DO UPDATE SET reason = 'other'",
        "TRUNCATE core_auditentry CASCADE" if ON_POSTGRESQL else "INSERT OR REPLACE INTO core_auditentry SELECT * FROM core_auditentry",
    ],
)
def test_change_of_an_audit_entry_is_refused_by_the_database(entry: AuditEntry, statement: str) -> None:
    connection.check_constraints()
    refused = pytest.raises(IntegrityError, match="the audit log is append-only")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.get().reason == "Abuse"


def test_missing_trigger_stops_the_check_and_migrate_makes_it_again() -> None:
    AUDIT_LOG_TRIGGERS.remove(connection)
    try:
        assert len(AUDIT_LOG_TRIGGERS.check(databases=["default"])) == len(AUDIT_LOG_TRIGGERS.missing(connection)) > 0
        with pytest.raises(SystemCheckError, match=r"core\.E010"):
            call_command("check", databases=["default"])
        call_command("migrate", verbosity=0, skip_checks=True)
        assert AUDIT_LOG_TRIGGERS.missing(connection) == []
    finally:
        AUDIT_LOG_TRIGGERS.install(connection)
    assert AUDIT_LOG_TRIGGERS.check(databases=["default"]) == []


@pytest.mark.parametrize(
    ("action", "details"),
    [("user.invent", {}), ("user.rename", {"name": "Ada"}), ("user.set_staff", {"before": []}), ("user.reactivate", {})],
)
def test_entry_that_the_documentation_does_not_describe_fails_its_test(action: str, details: dict[str, Any]) -> None:
    user = UserFactory()
    with pytest.raises(AssertionError), transaction.atomic():
        audit.record(action, user, actor=user, **details)
