"""PostgreSQL's full-text indexes on a function that is said to be expensive.

Taking a document's words apart is: without being told, the planner would rather do it for every document than read the index.
It is not said to be safe in parallel: starting workers takes longer than any search.
"""

from django.db import migrations

TIERS = {"top": 1, "upper": 2, "rest": 3}
HEADING, WHOLE = "title, tags", "title, tags, summary, body"
FUNCTION = """
CREATE FUNCTION catalog_words(VARIADIC columns text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE COST 100
AS $$ BEGIN RETURN string_to_array(array_to_string(columns, ' '), ' '); END $$
"""
INDEXES = [(f"searchdocument_{name}_{tier}", columns, TIERS[tier]) for name, columns in (("heading", HEADING), ("whole", WHOLE)) for tier in TIERS]


def forwards(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(FUNCTION)
    for name, columns, greatest in INDEXES:
        schema_editor.execute(f"DROP INDEX {name}")
        schema_editor.execute(
            f"CREATE INDEX {name} ON catalog_searchdocument USING gin (catalog_words({columns})) "
            f"WITH (fastupdate = off) WHERE tier <= {greatest}"
        )


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    for name, columns, greatest in INDEXES:
        plain = " || ' ' || ".join(columns.split(", "))
        schema_editor.execute(f"DROP INDEX {name}")
        schema_editor.execute(
            f"CREATE INDEX {name} ON catalog_searchdocument USING gin ((string_to_array({plain}, ' '))) "
            f"WITH (fastupdate = off) WHERE tier <= {greatest}"
        )
    schema_editor.execute("DROP FUNCTION catalog_words")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0009_shelf_labels")]

    operations = [migrations.RunPython(forwards, backwards)]
