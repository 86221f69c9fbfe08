"""The full-text index of catalog_searchdocument, which the database maintains.

PostgreSQL has GIN indexes of the columns' words; SQLite has an FTS5 table, which triggers keep. A migration that makes SQLite rebuild
catalog_searchdocument must create the triggers again.
"""

from django.db import migrations

COLUMNS = {"heading": "title, tags", "whole": "title, tags, summary, body"}
# For popular listings, and for all.
SETS = {"popular": "is_popular", "all": "TRUE"}

POSTGRESQL = [
    # Words are compared byte by byte, as on SQLite.
    'ALTER TABLE catalog_searchterm ALTER COLUMN term TYPE varchar(64) COLLATE "C"',
    # Popularity is updated often: free space beside a row keeps the updates out of every index.
    "ALTER TABLE catalog_searchdocument SET (fillfactor = 85)",
    # Its cost makes the planner read an index instead of splitting every document's words. It is not parallel safe: starting
    # workers takes longer than a search.
    """
CREATE FUNCTION catalog_words(VARIADIC columns text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE COST 100
AS $$ BEGIN RETURN string_to_array(array_to_string(columns, ' '), ' '); END $$
""",
    *(
        # Without a pending list, which each search would have to read.
        f"CREATE INDEX searchdocument_{name}_{part} ON catalog_searchdocument USING gin (catalog_words({columns})) "
        f"WITH (fastupdate = off) WHERE {condition}"
        for name, columns in COLUMNS.items()
        for part, condition in SETS.items()
    ),
]

# A listing's marks are indexed as words, so that a search reads no other table.
MARKS = "CASE WHEN {row}.is_popular THEN 'popular ' ELSE '' END || CASE WHEN {row}.is_new THEN 'new' ELSE '' END"
VALUES = "{row}.id, {row}.title, {row}.tags, {row}.summary, {row}.body, " + MARKS
ADD = "INSERT INTO catalog_searchfts(rowid, title, tags, summary, body, marks) VALUES (" + VALUES.format(row="new") + ");"
REMOVE = (
    "INSERT INTO catalog_searchfts(catalog_searchfts, rowid, title, tags, summary, body, marks) "
    "VALUES ('delete', " + VALUES.format(row="old") + ");"
)
SQLITE = [
    # `ascii` takes every letter beyond ASCII as part of a word: words end at the spaces between them and nowhere else.
    "CREATE VIRTUAL TABLE catalog_searchfts USING fts5(title, tags, summary, body, marks, content='', tokenize='ascii', "
    "detail=column, columnsize=0)",
    f"CREATE TRIGGER catalog_searchdocument_added AFTER INSERT ON catalog_searchdocument BEGIN {ADD} END",
    f"CREATE TRIGGER catalog_searchdocument_removed AFTER DELETE ON catalog_searchdocument BEGIN {REMOVE} END",
    "CREATE TRIGGER catalog_searchdocument_changed AFTER UPDATE OF title, tags, summary, body, is_popular, is_new "
    f"ON catalog_searchdocument BEGIN {REMOVE} {ADD} END",
]


def create_index(apps, schema_editor):
    for statement in {"postgresql": POSTGRESQL, "sqlite": SQLITE}[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial")]

    operations = [migrations.RunPython(create_index)]
