"""On PostgreSQL a composite foreign key refuses a transfer between currencies; on SQLite `wallet.guards` has a trigger for it."""

from typing import Any

from django.db import migrations

SIDES = ("debit", "credit")


def add_keys(apps: Any, schema_editor: Any) -> None:
    """Tie each side of a transfer to an account of the transfer's currency."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for side in SIDES:
        schema_editor.execute(
            f"ALTER TABLE wallet_transfer ADD CONSTRAINT transfer_{side}_in_currency "
            f"FOREIGN KEY ({side}_id, currency) REFERENCES wallet_ledgeraccount (id, currency)"
        )


def drop_keys(apps: Any, schema_editor: Any) -> None:
    """Untie them."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for side in SIDES:
        schema_editor.execute(f"ALTER TABLE wallet_transfer DROP CONSTRAINT transfer_{side}_in_currency")


class Migration(migrations.Migration):
    dependencies = [("wallet", "0001_initial")]

    operations = [migrations.RunPython(add_keys, drop_keys)]
