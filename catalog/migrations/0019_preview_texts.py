"""Pictures say what they show. The moments at which rows are made are given by the code from now on, which the tables do not notice."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0018_labels_found_at_once")]

    operations = [
        migrations.AddField(
            model_name="preview",
            name="alt_text",
            field=models.CharField(blank=True, db_default="", default="", max_length=250),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="preview",
                    name="uploaded_at",
                    field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                migrations.AlterField(
                    model_name="listing",
                    name="created_at",
                    field=models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ]
        ),
    ]
