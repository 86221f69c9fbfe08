"""Search without the table of misspellings: one set of popular listings, one full-text table on SQLite, synonyms.

What was indexed before is dropped: `manage.py rebuild_search` makes it anew. A migration that makes SQLite rebuild
catalog_searchdocument must make the triggers again.
"""

from django.db import migrations, models

COLUMNS = {"heading": "title, tags", "whole": "title, tags, summary, body"}
# Of popular listings, and of all.
SETS = {"popular": "is_popular", "all": "TRUE"}
OLD_TABLES = [f"catalog_searchfts_heading_{name}" for name in ("new", "top", "upper", "rest")]
OLD_TABLES += [f"catalog_searchfts_whole_{name}" for name in ("top", "upper")]
OLD_TRIGGERS = [f"catalog_searchdocument_{name}" for name in ("added", "removed", "changed", "placed", "displaced", "moved")]

DROP = {
    "postgresql": [
        *(f"DROP INDEX searchdocument_{columns}_{tier}" for columns in COLUMNS for tier in ("top", "upper", "rest")),
        *(f"DROP INDEX searchterm_begin_{letters}" for letters in (1, 2, 3)),
        "TRUNCATE catalog_searchdelete, catalog_searchterm, catalog_searchdocument",
    ],
    "sqlite": [
        *(f"DROP TRIGGER {name}" for name in OLD_TRIGGERS),
        *(f"DROP TABLE {name}" for name in (*OLD_TABLES, "catalog_searchfts")),
        *(f"DROP INDEX searchterm_begin_{letters}" for letters in (1, 2, 3)),
        "DELETE FROM catalog_searchdelete",
        "DELETE FROM catalog_searchterm",
        "DELETE FROM catalog_searchdocument",
    ],
}

# What a listing is besides its words, as words: a look-up reads no other rows.
PLACE = "CASE WHEN {row}.is_popular THEN 'popular ' ELSE '' END || CASE WHEN {row}.is_new THEN 'new' ELSE '' END"
VALUES = "{row}.id, {row}.title, {row}.tags, {row}.summary, {row}.body, " + PLACE
ADD = "INSERT INTO catalog_searchfts(rowid, title, tags, summary, body, place) VALUES (" + VALUES.format(row="new") + ");"
REMOVE = (
    "INSERT INTO catalog_searchfts(catalog_searchfts, rowid, title, tags, summary, body, place) "
    "VALUES ('delete', " + VALUES.format(row="old") + ");"
)
CREATE = {
    "postgresql": [
        # Without a pending list, which each search would have to read.
        f"CREATE INDEX searchdocument_{name}_{part} ON catalog_searchdocument USING gin (catalog_words({columns})) "
        f"WITH (fastupdate = off) WHERE {condition}"
        for name, columns in COLUMNS.items()
        for part, condition in SETS.items()
    ],
    "sqlite": [
        # `ascii` takes every letter beyond ASCII as part of a word: words end at the spaces between them and nowhere else.
        "CREATE VIRTUAL TABLE catalog_searchfts USING fts5(title, tags, summary, body, place, content='', tokenize='ascii', "
        "detail=column, columnsize=0)",
        f"CREATE TRIGGER catalog_searchdocument_added AFTER INSERT ON catalog_searchdocument BEGIN {ADD} END",
        f"CREATE TRIGGER catalog_searchdocument_removed AFTER DELETE ON catalog_searchdocument BEGIN {REMOVE} END",
        "CREATE TRIGGER catalog_searchdocument_changed AFTER UPDATE OF title, tags, summary, body, is_popular, is_new "
        f"ON catalog_searchdocument BEGIN {REMOVE} {ADD} END",
    ],
}
SYNONYMS = {
    "agent": ["skill", "prompt"],
    "cv": ["resume"],
    "font": ["typeface", "lettering"],
    "grotesk": ["grotesque"],
    "handwriting": ["script", "handwritten"],
    "icon": ["symbol", "glyph"],
    "logo": ["branding"],
    "monospace": ["monospaced", "mono"],
    "music": ["loops", "sounds", "audio"],
    "photo": ["lightroom", "lut"],
    "presentation": ["slides", "deck"],
    "resume": ["cv"],
    "serif": ["fonts"],
    "slides": ["presentation", "deck"],
    "sound": ["audio", "loops"],
    "typeface": ["fonts"],
    "video": ["motion", "footage"],
}


def run(statements):
    def execute(apps, schema_editor):
        for statement in statements[schema_editor.connection.vendor]:
            schema_editor.execute(statement)

    return execute


def seed(apps, schema_editor):
    synonyms = apps.get_model("catalog", "SearchSynonym").objects
    synonyms.bulk_create([synonyms.model(word=word, synonyms=" ".join(words)) for word, words in SYNONYMS.items()])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0021_catalog_version")]
    old_code_runs_because = "nothing is released yet; afterwards `manage.py rebuild_search` fills the tables"

    operations = [
        migrations.RunPython(run(DROP), elidable=True),
        migrations.DeleteModel(name="SearchDelete"),
        migrations.RemoveField(model_name="searchterm", name="corrects"),
        migrations.RemoveField(model_name="searchdocument", name="tier"),
        migrations.AddField(model_name="searchdocument", name="is_shown", field=models.BooleanField(default=True)),
        migrations.AddField(model_name="searchdocument", name="is_popular", field=models.BooleanField(default=True)),
        migrations.AddField(model_name="searchdocument", name="is_new", field=models.BooleanField(default=True)),
        migrations.AlterField(model_name="searchdocument", name="popularity", field=models.IntegerField(default=0)),
        migrations.AddField(
            model_name="searchdocument", name="published_at", field=models.DateTimeField(default="2000-01-01T00:00Z"), preserve_default=False
        ),
        migrations.AddIndex(
            model_name="searchdocument",
            index=models.Index(condition=models.Q(("is_new", True)), fields=["published_at"], name="searchdocument_new"),
        ),
        migrations.CreateModel(
            name="SearchSynonym",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("word", models.CharField(max_length=40, unique=True)),
                ("synonyms", models.CharField(max_length=200)),
                ("is_active", models.BooleanField(default=True)),
            ],
            options={"ordering": ("word",)},
        ),
        migrations.RunPython(run(CREATE), elidable=True),
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
