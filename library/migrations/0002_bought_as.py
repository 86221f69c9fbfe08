"""Licences say what was bought; of earlier ones nobody kept it, so that they are told as it stands now."""

from django.db import migrations, models
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce, NullIf

BATCH = 500


def tell_licences(apps, schema_editor):
    """Say of each licence what its listing and store are called, and which version its file is."""
    licence, listing, deliverable = (
        apps.get_model(*name) for name in (("library", "Licence"), ("catalog", "Listing"), ("catalog", "Deliverable"))
    )
    of_listing = listing.objects.filter(pk=OuterRef("listing"))
    of_file = deliverable.objects.filter(pk=OuterRef("deliverable"))
    after = None
    while True:
        rest = licence.objects.all() if after is None else licence.objects.filter(pk__gt=after)
        ids = list(rest.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not ids:
            return
        licence.objects.filter(pk__in=ids).update(
            title=Subquery(of_listing.values("title")),
            store_name=Subquery(of_listing.values("store__name")),
            version=Coalesce(NullIf(Subquery(of_file.values("version")), models.Value("")), Subquery(of_listing.values("version"))),
        )
        after = ids[-1]


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0013_uncounted_purchases'),
        ('library', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='licence',
            name='store_name',
            field=models.CharField(default='', max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='licence',
            name='title',
            field=models.CharField(default='', max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='licence',
            name='version',
            field=models.CharField(blank=True, max_length=32),
        ),
        migrations.RunPython(tell_licences, migrations.RunPython.noop),
    ]
