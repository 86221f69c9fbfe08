"""On PostgreSQL, composite foreign keys refuse a transfer between currencies; on SQLite, `wallet.triggers` has a trigger for it."""

from django.db import migrations


def add_keys(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for side in ("debit", "credit"):
            schema_editor.execute(
                f"ALTER TABLE wallet_transfer ADD CONSTRAINT transfer_{side}_in_currency "
                f"FOREIGN KEY ({side}_id, currency) REFERENCES wallet_ledgeraccount (id, currency)"
            )


class Migration(migrations.Migration):
    dependencies = [("wallet", "0001_initial")]

    operations = [migrations.RunPython(add_keys)]
