"""SQLite's full-text index of headings and of upper tiers, in tables of their own, as PostgreSQL's partial indexes are.

To find the few of the top that have a common word, the one table for all is read for every document that has it. These give
what they read, and their entries name rows and nothing else; for words anywhere in any document there is still the one for all.
A migration that makes SQLite rebuild catalog_searchdocument must make the triggers again.
"""

from django.db import migrations

# The greatest tier that each holds (models.search.Tier).
TIERS = {"heading": {"new": 0, "top": 1, "upper": 2, "rest": 3}, "whole": {"top": 1, "upper": 2}}
COLUMNS = {"heading": ("title", "tags"), "whole": ("title", "tags", "summary", "body")}
TABLES = {f"catalog_searchfts_{kind}_{name}": (kind, greatest) for kind, tiers in TIERS.items() for name, greatest in tiers.items()}
TRIGGERS = {
    "catalog_searchdocument_placed": "AFTER INSERT",
    "catalog_searchdocument_displaced": "AFTER DELETE",
    "catalog_searchdocument_moved": "AFTER UPDATE OF title, tags, summary, body, tier",
}


def words(kind, row=""):
    """Return the expression for a row's words."""
    return " || ' ' || ".join(f"{row}{column}" for column in COLUMNS[kind])


def statements(happens):
    """Yield what a trigger does: to tables that held or hold the row, where it becomes another."""
    for table, (kind, greatest) in TABLES.items():
        before, after = f"old.tier <= {greatest}", f"new.tier <= {greatest}"
        leaves, enters = before, after
        if "UPDATE" in happens:
            differs = f"{words(kind, 'old.')} <> {words(kind, 'new.')}"
            leaves, enters = f"{before} AND ({differs} OR NOT {after})", f"{after} AND ({differs} OR NOT {before})"
        if "INSERT" not in happens:
            yield f"INSERT INTO {table}({table}, rowid, words) SELECT 'delete', old.id, {words(kind, 'old.')} WHERE {leaves};"
        if "DELETE" not in happens:
            yield f"INSERT INTO {table}(rowid, words) SELECT new.id, {words(kind, 'new.')} WHERE {enters};"


def make(apps, schema_editor):
    """Make the tables, their entries and the triggers."""
    if schema_editor.connection.vendor != "sqlite":
        return
    for table, (kind, greatest) in TABLES.items():
        schema_editor.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(words, content='', tokenize='ascii', detail=none, columnsize=0)")
        schema_editor.execute(
            f"INSERT INTO {table}(rowid, words) SELECT id, {words(kind)} FROM catalog_searchdocument WHERE tier <= {greatest} ORDER BY id"
        )
    for trigger, happens in TRIGGERS.items():
        schema_editor.execute(f"CREATE TRIGGER {trigger} {happens} ON catalog_searchdocument BEGIN {' '.join(statements(happens))} END")


def remove(apps, schema_editor):
    """Remove them."""
    if schema_editor.connection.vendor != "sqlite":
        return
    for trigger in TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER {trigger}")
    for table in TABLES:
        schema_editor.execute(f"DROP TABLE {table}")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0016_label_table")]

    old_code_runs_because = "the tables are new, and triggers keep them whoever writes"

    operations = [migrations.RunPython(make, remove)]
