"""PostgreSQL is told that buyers and listings have many licences each.

Between two ANALYZE it took a listing that begins to sell well, or a buyer who begins to buy much, for one of few licences, and
each purchase then read them all to find out whether the asset is owned. So it goes by buyer and listing together. In force
from the next ANALYZE on.
"""

from django.db import migrations

COLUMNS = ("buyer_id", "listing_id")


def tell(apps, schema_editor):
    """Say how many licences one buyer and one listing have, whatever a sample says: a hundred."""
    _alter(schema_editor, "SET (n_distinct = -0.01)")


def forget(apps, schema_editor):
    """Let the sample say it."""
    _alter(schema_editor, "RESET (n_distinct)")


def _alter(schema_editor, change):
    if schema_editor.connection.vendor == "postgresql":
        for column in COLUMNS:
            schema_editor.execute(f"ALTER TABLE library_licence ALTER COLUMN {column} {change}")


class Migration(migrations.Migration):
    dependencies = [("library", "0002_bought_as")]
    old_code_runs_because = "it only tells the planner how many rows to expect"

    operations = [migrations.RunPython(tell, forget)]
