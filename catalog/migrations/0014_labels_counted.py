"""Every label of the shelf is counted, and counts are found by it."""

from collections import Counter

from django.db import migrations, models


def count(apps, schema_editor):
    """Count the labels that were not counted so far: tags and platforms."""
    item, shelf_count = apps.get_model("catalog", "ShelfItem"), apps.get_model("catalog", "ShelfCount")
    found = Counter()
    for category, tier, text in item.objects.values_list("category_id", "tier", "labels__labels").iterator(chunk_size=5000):
        found.update((category, tier, label) for label in text.split("|") if label and not label.startswith(("license:", "type:")))
    rows = (shelf_count(category_id=category, tier=tier, label=label, listings=n) for (category, tier, label), n in found.items())
    shelf_count.objects.bulk_create(rows, batch_size=1000)


def forget(apps, schema_editor):
    shelf_count = apps.get_model("catalog", "ShelfCount")
    shelf_count.objects.filter(models.Q(label__startswith="tag:") | models.Q(label__startswith="platform:")).delete()


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0013_uncounted_purchases'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='shelfcount',
            index=models.Index(fields=['label'], name='shelfcount_label'),
        ),
        # After the index: no table is altered that has checks waiting for the commit.
        migrations.RunPython(count, forget),
    ]
