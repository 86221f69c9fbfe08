"""The operator's pages, empty until they are written in the admin."""

from django.db import migrations


def seed(apps, schema_editor):
    model = apps.get_model("operations", "SitePage")
    model.objects.bulk_create([model(slug=slug) for slug in ("terms", "privacy", "refunds", "contact")])


class Migration(migrations.Migration):
    dependencies = [("operations", "0001_initial")]

    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
