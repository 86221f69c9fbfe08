"""PostgreSQL's index on the labels of the shelf, as an array; SQLite looks through the rows."""

from django.db import migrations

INDEX = "CREATE INDEX shelflabels_labels ON catalog_shelflabels USING gin ((string_to_array(labels, '|')))"


def _on_postgresql(statement):
    def run(apps, schema_editor):
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(statement)

    return run


class Migration(migrations.Migration):
    dependencies = [("catalog", "0008_shelf")]

    operations = [migrations.RunPython(_on_postgresql(INDEX), _on_postgresql("DROP INDEX shelflabels_labels"))]
