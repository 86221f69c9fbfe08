import secrets

from django.db import migrations, models


def make_row(apps, schema_editor):
    apps.get_model("catalog", "CatalogVersion").objects.create(value=secrets.token_hex(16))


class Migration(migrations.Migration):
    old_code_runs_because = "the table is new, and the one that old code reads stays in the database"

    dependencies = [
        ('catalog', '0020_prices_in_dollars'),
    ]

    operations = [
        migrations.CreateModel(
            name='CatalogVersion',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('value', models.CharField(max_length=32)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='catalogversion_one_row')],
            },
        ),
        migrations.RunPython(make_row, migrations.RunPython.noop),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name='CatalogGeneration')]),
    ]
