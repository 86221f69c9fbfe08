"""Orders by dollars. The indexes that replace the old one come before it goes: dropping it first would keep readers out while they are made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0019_preview_texts")]

    operations = [
        migrations.AddIndex(
            model_name="shelfitem",
            index=models.Index(fields=["usd", "listing", "tier"], name="shelf_usd"),
        ),
        migrations.AddIndex(
            model_name="shelfitem",
            index=models.Index(fields=["category", "usd", "listing", "tier"], name="shelf_category_usd"),
        ),
        migrations.AlterField(model_name="shelfitem", name="usd", field=models.BigIntegerField()),
    ]
