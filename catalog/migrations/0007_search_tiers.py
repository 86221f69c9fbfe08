"""Search by tiers: a place and a popularity for each document, counts by column for each word, narrow rows of misspellings.

What was indexed before is dropped: `manage.py rebuild_search` makes it anew.

PostgreSQL: GIN on the columns' words as an array (exact, no extension, no stemming by the engine), whole and for the upper
tiers, without a pending list so that a look-up never has to scan one. SQLite: an FTS5 table that holds no second copy of the
text, kept by triggers; the tier is a column of words in it. A migration that makes SQLite rebuild catalog_searchdocument or
catalog_searchterm must make the triggers and the indexes on beginnings again.
"""

import django.db.models.deletion
from django.db import migrations, models

HEADING = "string_to_array(title || ' ' || tags, ' ')"
WHOLE = "string_to_array(title || ' ' || tags || ' ' || summary || ' ' || body, ' ')"
# The tiers by the greatest that each index holds (models.search.Tier).
TIERS = {"top": 1, "upper": 2, "rest": 3}
# Words by their first letters, the most frequent first: what is typed so far, completed without reading all that it begins.
BEGINNINGS = [
    f"CREATE INDEX searchterm_begin_{letters} ON catalog_searchterm (substr(term, 1, {letters}), documents DESC, term)"
    for letters in (1, 2, 3)
]
BEGINNINGS_BACK = [f"DROP INDEX searchterm_begin_{letters}" for letters in (1, 2, 3)]

FORGET = {
    "postgresql": [
        "DROP INDEX searchdocument_heading, searchdocument_heading_0, searchdocument_heading_1",
        "DROP INDEX searchdocument_whole, searchdocument_whole_0, searchdocument_whole_1",
        "TRUNCATE catalog_searchdelete, catalog_searchterm, catalog_searchdocument",
    ],
    "sqlite": [
        "DROP TRIGGER catalog_searchdocument_changed",
        "DROP TRIGGER catalog_searchdocument_removed",
        "DROP TRIGGER catalog_searchdocument_added",
        "DROP TABLE catalog_searchfts",
        "DELETE FROM catalog_searchdelete",
        "DELETE FROM catalog_searchterm",
        "DELETE FROM catalog_searchdocument",
    ],
}

_PLACE = "CASE WHEN {row}.tier <= 1 THEN 'rest upper top' WHEN {row}.tier = 2 THEN 'rest upper' WHEN {row}.tier = 3 THEN 'rest' ELSE '' END"
_VALUES = "{row}.id, {row}.title, {row}.tags, {row}.summary, {row}.body, " + _PLACE
_ADD = "INSERT INTO catalog_searchfts(rowid, title, tags, summary, body, place) VALUES (" + _VALUES.format(row="new") + ");"
_REMOVE = (
    "INSERT INTO catalog_searchfts(catalog_searchfts, rowid, title, tags, summary, body, place) "
    "VALUES ('delete', " + _VALUES.format(row="old") + ");"
)
LEARN = {
    "postgresql": [
        # Popularity is written now and then: room beside the row keeps that out of every index.
        "ALTER TABLE catalog_searchdocument SET (fillfactor = 85)",
        *(
            f"CREATE INDEX searchdocument_{name}_{tier} ON catalog_searchdocument USING gin (({expression})) "
            f"WITH (fastupdate = off) WHERE tier <= {greatest}"
            for name, expression in (("heading", HEADING), ("whole", WHOLE))
            for tier, greatest in TIERS.items()
        ),
        *BEGINNINGS,
    ],
    "sqlite": [
        # `ascii` takes every letter beyond ASCII as part of a word: words end at the spaces between them and nowhere else.
        "CREATE VIRTUAL TABLE catalog_searchfts USING fts5(title, tags, summary, body, place, content='', tokenize='ascii', "
        "detail=column, columnsize=0)",
        f"CREATE TRIGGER catalog_searchdocument_added AFTER INSERT ON catalog_searchdocument BEGIN {_ADD} END",
        f"CREATE TRIGGER catalog_searchdocument_removed AFTER DELETE ON catalog_searchdocument BEGIN {_REMOVE} END",
        "CREATE TRIGGER catalog_searchdocument_changed AFTER UPDATE OF title, tags, summary, body, tier ON catalog_searchdocument "
        f"BEGIN {_REMOVE} {_ADD} END",
        *BEGINNINGS,
    ],
}
LEARN_BACK = {
    "postgresql": [
        *(f"DROP INDEX searchdocument_{name}_{tier}" for name in ("heading", "whole") for tier in TIERS),
        *BEGINNINGS_BACK,
    ],
    "sqlite": [
        "DROP TRIGGER catalog_searchdocument_changed",
        "DROP TRIGGER catalog_searchdocument_removed",
        "DROP TRIGGER catalog_searchdocument_added",
        "DROP TABLE catalog_searchfts",
        *BEGINNINGS_BACK,
    ],
}


def _run(statements):
    def run(apps, schema_editor):
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    dependencies = [("catalog", "0006_retired_terms")]

    operations = [
        migrations.RunPython(_run(FORGET), migrations.RunPython.noop),
        migrations.DeleteModel(name="SearchDelete"),
        migrations.RemoveField(model_name="searchdocument", name="level"),
        migrations.AddField(
            model_name="searchdocument",
            name="tier",
            field=models.PositiveSmallIntegerField(
                choices=[(0, "Newcomer"), (1, "Top"), (2, "Upper"), (3, "Rest"), (4, "Hidden")], default=0
            ),
        ),
        migrations.AddField(model_name="searchdocument", name="popularity", field=models.PositiveIntegerField(default=0)),
        migrations.AddField(
            model_name="searchdocument", name="title_key", field=models.BigIntegerField(db_index=True, default=0), preserve_default=False
        ),
        migrations.AddField(model_name="searchterm", name="headings", field=models.PositiveIntegerField(default=0)),
        migrations.AddField(model_name="searchterm", name="corrects", field=models.BooleanField(default=False)),
        migrations.CreateModel(
            name="SearchDelete",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "digest", "term_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.BigIntegerField()),
                (
                    "term",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="deletes",
                        to="catalog.searchterm",
                    ),
                ),
            ],
        ),
        migrations.RunPython(_run(LEARN), _run(LEARN_BACK)),
    ]
