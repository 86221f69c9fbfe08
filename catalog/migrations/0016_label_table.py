"""SQLite's look-up of listings by label: a row for each label of each, which triggers keep in line. PostgreSQL has an index of the labels."""

from django.db import migrations

TABLE = "CREATE TABLE catalog_shelflabel (label TEXT NOT NULL, item_id TEXT NOT NULL, PRIMARY KEY (label, item_id)) WITHOUT ROWID"
# The labels' separator is in none of them: each becomes an element of an array in JSON.
ROWS = (
    "INSERT INTO catalog_shelflabel (label, item_id) SELECT each.value, {row}item_id FROM {source}"
    """json_each('[' || replace(json_quote({row}labels), '|', '","') || ']') each WHERE each.value <> ''"""
)
# By the labels that it had: the table is ordered by label.
GONE = (
    "DELETE FROM catalog_shelflabel WHERE item_id = old.item_id AND label IN (SELECT each.value FROM "
    """json_each('[' || replace(json_quote(old.labels), '|', '","') || ']') each)"""
)
TRIGGERS = {
    "shelflabel_added": f"AFTER INSERT ON catalog_shelflabels BEGIN {ROWS.format(row='new.', source='')}; END",
    "shelflabel_changed": f"AFTER UPDATE OF labels ON catalog_shelflabels BEGIN {GONE}; {ROWS.format(row='new.', source='')}; END",
    "shelflabel_removed": f"AFTER DELETE ON catalog_shelflabels BEGIN {GONE}; END",
}


def make(apps, schema_editor):
    """Make the table, its rows and its triggers."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(TABLE)
        schema_editor.execute(ROWS.format(row="every.", source="catalog_shelflabels every, "))
        for name, trigger in TRIGGERS.items():
            schema_editor.execute(f"CREATE TRIGGER {name} {trigger}")


def remove(apps, schema_editor):
    """Remove them."""
    if schema_editor.connection.vendor == "sqlite":
        for name in TRIGGERS:
            schema_editor.execute(f"DROP TRIGGER {name}")
        schema_editor.execute("DROP TABLE catalog_shelflabel")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0015_admin_search")]

    old_code_runs_because = "the table is new, and triggers keep it whoever writes"

    operations = [migrations.RunPython(make, remove)]
