"""New labels go straight into PostgreSQL's index: a list of those still to be put there was looked through by each who asked for one."""

from django.db import migrations

INDEX = "shelflabels_labels"


def found_at_once(apps, schema_editor):
    """Keep no list any more, and empty the one that there is."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER INDEX {INDEX} SET (fastupdate = off)")
        schema_editor.execute(f"SELECT gin_clean_pending_list('{INDEX}')")


def found_later(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER INDEX {INDEX} RESET (fastupdate)")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0017_search_tables_by_tier")]

    old_code_runs_because = "it asks the same index the same way"

    operations = [migrations.RunPython(found_at_once, found_later)]
