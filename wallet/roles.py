"""The minimal grants of a PostgreSQL role that runs the service.

Journals, transfers, digests, invoices and the audit log can only be inserted; of accounts, payouts and batches only the columns that
the service changes can be updated.

The triggers refuse changes anyway; this role cannot drop them, because it owns no table. Migrations run as the owner.
"""

import re

from .triggers import CHANGEABLE, LEDGER_TRIGGERS, REVERSAL_PARTS, REVERSALS, TOP_UPS

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
APPEND_ONLY = (*LEDGER_TRIGGERS.append_only, "core_auditentry")


def grants(role: str) -> list[str]:
    """Return the grants for a role, to be run by the owner of the tables after each `migrate`.

    Raises:
        ValueError: the name needs quoting.
    """
    if not _NAME.fullmatch(role):
        message = f"{role!r} is not a plain name; use lower-case letters, digits and underscores."
        raise ValueError(message)
    return [
        f"GRANT USAGE ON SCHEMA public TO {role}",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
        f"REVOKE UPDATE, DELETE ON {', '.join(APPEND_ONLY)} FROM {role}",
        f"REVOKE UPDATE, DELETE ON wallet_ledgeraccount FROM {role}",
        # The two columns that change.
        f"GRANT UPDATE (balance_minor, entries) ON wallet_ledgeraccount TO {role}",
        *(f"REVOKE UPDATE, DELETE ON {table} FROM {role}" for table in CHANGEABLE),
        *(f"GRANT UPDATE ({', '.join(columns)}) ON {table} TO {role}" for table, columns in CHANGEABLE.items()),
        f"REVOKE DELETE ON {TOP_UPS}, {REVERSALS}, {REVERSAL_PARTS} FROM {role}",
        f"REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM {role}",
    ]
