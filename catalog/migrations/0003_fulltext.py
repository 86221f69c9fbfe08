"""The full-text indexes that the database keeps on the words of catalog_searchdocument.

PostgreSQL: GIN on the columns' words as an array (exact, no extension, no stemming by the engine), whole and for the upper
levels, without a pending list so that a look-up never has to scan one. SQLite: an FTS5 table that holds no second copy of
the text, kept by triggers. A migration that makes SQLite rebuild catalog_searchdocument must make the triggers again.
"""

from django.db import migrations

HEADING = "string_to_array(title || ' ' || tags, ' ')"
WHOLE = "string_to_array(title || ' ' || tags || ' ' || summary || ' ' || body, ' ')"

POSTGRESQL = [
    # Ranges of words must mean the same as on SQLite: bytes, whatever the database's locale.
    'ALTER TABLE catalog_searchterm ALTER COLUMN term TYPE varchar(64) COLLATE "C"',
    f"CREATE INDEX searchdocument_heading ON catalog_searchdocument USING gin (({HEADING})) WITH (fastupdate = off)",
    f"CREATE INDEX searchdocument_heading_0 ON catalog_searchdocument USING gin (({HEADING})) WITH (fastupdate = off) WHERE level <= 0",
    f"CREATE INDEX searchdocument_heading_1 ON catalog_searchdocument USING gin (({HEADING})) WITH (fastupdate = off) WHERE level <= 1",
    f"CREATE INDEX searchdocument_whole ON catalog_searchdocument USING gin (({WHOLE})) WITH (fastupdate = off)",
    f"CREATE INDEX searchdocument_whole_0 ON catalog_searchdocument USING gin (({WHOLE})) WITH (fastupdate = off) WHERE level <= 0",
    f"CREATE INDEX searchdocument_whole_1 ON catalog_searchdocument USING gin (({WHOLE})) WITH (fastupdate = off) WHERE level <= 1",
]
POSTGRESQL_BACK = [
    "DROP INDEX searchdocument_heading, searchdocument_heading_0, searchdocument_heading_1",
    "DROP INDEX searchdocument_whole, searchdocument_whole_0, searchdocument_whole_1",
]
SQLITE = [
    # `ascii` takes every letter beyond ASCII as part of a word: words end at the spaces between them and nowhere else.
    "CREATE VIRTUAL TABLE catalog_searchfts USING fts5(title, tags, summary, body, content='catalog_searchdocument', "
    "content_rowid='id', tokenize='ascii', detail=column, columnsize=0)",
    "CREATE TRIGGER catalog_searchdocument_added AFTER INSERT ON catalog_searchdocument BEGIN "
    "INSERT INTO catalog_searchfts(rowid, title, tags, summary, body) "
    "VALUES (new.id, new.title, new.tags, new.summary, new.body); END",
    "CREATE TRIGGER catalog_searchdocument_removed AFTER DELETE ON catalog_searchdocument BEGIN "
    "INSERT INTO catalog_searchfts(catalog_searchfts, rowid, title, tags, summary, body) "
    "VALUES ('delete', old.id, old.title, old.tags, old.summary, old.body); END",
    "CREATE TRIGGER catalog_searchdocument_changed AFTER UPDATE OF title, tags, summary, body ON catalog_searchdocument BEGIN "
    "INSERT INTO catalog_searchfts(catalog_searchfts, rowid, title, tags, summary, body) "
    "VALUES ('delete', old.id, old.title, old.tags, old.summary, old.body); "
    "INSERT INTO catalog_searchfts(rowid, title, tags, summary, body) "
    "VALUES (new.id, new.title, new.tags, new.summary, new.body); END",
]
SQLITE_BACK = [
    "DROP TRIGGER catalog_searchdocument_changed",
    "DROP TRIGGER catalog_searchdocument_removed",
    "DROP TRIGGER catalog_searchdocument_added",
    "DROP TABLE catalog_searchfts",
]


def _run(statements):
    def run(apps, schema_editor):
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_seed")]

    operations = [
        migrations.RunPython(
            _run({"postgresql": POSTGRESQL, "sqlite": SQLITE}),
            _run({"postgresql": POSTGRESQL_BACK, "sqlite": SQLITE_BACK}),
        ),
    ]
