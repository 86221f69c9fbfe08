"""The browse index, which replaces the tables that browsing read before."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
from django.db import migrations, models


def drop_label_table(apps, schema_editor):
    """Drop what triggers wrote on SQLite; the triggers go with the table that they watch."""
    if schema_editor.connection.vendor == "sqlite":
        for name in ("added", "changed", "removed"):
            schema_editor.execute(f"DROP TRIGGER shelflabel_{name}")
        schema_editor.execute("DROP TABLE catalog_shelflabel")


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0022_search_in_memory'),
    ]

    old_code_runs_because = "nothing is released yet; afterwards `manage.py rebuild_listing_index` fills the tables"

    operations = [
        migrations.RunPython(drop_label_table, migrations.RunPython.noop),
        migrations.DeleteModel("ShelfLabels"),
        migrations.DeleteModel("ShelfItem"),
        migrations.DeleteModel("ShelfCount"),
        migrations.CreateModel(
            name='ListingCount',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('category_slug', models.CharField(max_length=80)),
                ('tier', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'Vip')], max_length=8)),
                ('name', models.CharField(blank=True, max_length=8)),
                ('value', models.CharField(blank=True, max_length=250)),
                ('listings', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'value', 'category_slug', 'tier'), name='listingcount_once'), models.CheckConstraint(condition=models.Q(('tier__in', ['free', 'go', 'pro', 'vip'])), name='listingcount_tier_known'), models.CheckConstraint(condition=models.Q(('listings__gte', 0)), name='listingcount_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='ListingIndex',
            fields=[
                ('price_usd', models.BigIntegerField()),
                ('price_inr', models.BigIntegerField(null=True)),
                ('price_eur', models.BigIntegerField(null=True)),
                ('usd_descending', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('price_usd'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('inr_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_inr', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000))), output_field=models.BigIntegerField())),
                ('inr_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_inr'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('eur_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_eur', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000))), output_field=models.BigIntegerField())),
                ('eur_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_eur'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='index', serialize=False, to='catalog.listing')),
                ('slug', models.CharField(max_length=80)),
                ('title', models.CharField(max_length=120)),
                ('category_slug', models.CharField(max_length=80)),
                ('category_name', models.CharField(max_length=120)),
                ('store_slug', models.CharField(max_length=80)),
                ('store_name', models.CharField(max_length=120)),
                ('tier', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'Vip')], max_length=8)),
                ('file_type', models.CharField(blank=True, max_length=250)),
                ('list_price_usd', models.BigIntegerField()),
                ('list_price_inr', models.BigIntegerField(null=True)),
                ('list_price_eur', models.BigIntegerField(null=True)),
                ('discount_bp', models.PositiveIntegerField()),
                ('licenses', models.JSONField()),
                ('thumbnail', models.JSONField(null=True)),
                ('published_at', models.DateTimeField()),
                ('popularity', models.PositiveIntegerField(default=0)),
                ('popular_first', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('popularity'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('newest_first', models.BigIntegerField()),
            ],
            options={
                'verbose_name_plural': 'listing index',
                'indexes': [models.Index(fields=['popular_first', 'newest_first', 'listing'], name='listingindex_popular'), models.Index(fields=['newest_first', 'listing'], name='listingindex_newest'), models.Index(fields=['category_slug', 'popular_first', 'newest_first', 'listing'], name='listingindex_category_popular'), models.Index(fields=['category_slug', 'newest_first', 'listing'], name='listingindex_category_newest'), models.Index(fields=['store_slug', 'newest_first', 'listing'], name='listingindex_store'), models.Index(fields=['file_type', 'popular_first', 'newest_first', 'listing'], name='listingindex_type'), models.Index(fields=['price_usd', 'listing'], name='listingindex_price_usd'), models.Index(fields=['usd_descending', 'listing'], name='listingindex_usd_descending'), models.Index(fields=['inr_ascending', 'listing'], name='listingindex_inr_ascending'), models.Index(fields=['inr_descending', 'listing'], name='listingindex_inr_descending'), models.Index(fields=['eur_ascending', 'listing'], name='listingindex_eur_ascending'), models.Index(fields=['eur_descending', 'listing'], name='listingindex_eur_descending')],
                'constraints': [models.CheckConstraint(condition=models.Q(('tier__in', ['free', 'go', 'pro', 'vip'])), name='listingindex_tier_known')],
            },
        ),
        migrations.CreateModel(
            name='ListingLabel',
            fields=[
                ('pk', models.CompositePrimaryKey('listing_id', 'kind', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('tag', 'Tag'), ('platform', 'Platform')], max_length=8)),
                ('value', models.CharField(max_length=250)),
                ('listing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='catalog.listingindex')),
            ],
        ),
        migrations.CreateModel(
            name='ListingPrice',
            fields=[
                ('price_usd', models.BigIntegerField()),
                ('price_inr', models.BigIntegerField(null=True)),
                ('price_eur', models.BigIntegerField(null=True)),
                ('usd_descending', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('price_usd'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('inr_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_inr', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000))), output_field=models.BigIntegerField())),
                ('inr_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_inr'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('eur_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_eur', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000))), output_field=models.BigIntegerField())),
                ('eur_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_eur'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('pk', models.CompositePrimaryKey('listing_id', 'license', blank=True, editable=False, primary_key=True, serialize=False)),
                ('license', models.CharField(max_length=40)),
                ('listing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='prices', to='catalog.listingindex')),
            ],
        ),
        migrations.AddIndex(
            model_name='listinglabel',
            index=models.Index(fields=['kind', 'value', 'listing'], name='listinglabel_value'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'price_usd', 'listing'], name='listingprice_price_usd'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'usd_descending', 'listing'], name='listingprice_usd_descending'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'inr_ascending', 'listing'], name='listingprice_inr_ascending'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'inr_descending', 'listing'], name='listingprice_inr_descending'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'eur_ascending', 'listing'], name='listingprice_eur_ascending'),
        ),
        migrations.AddIndex(
            model_name='listingprice',
            index=models.Index(fields=['license', 'eur_descending', 'listing'], name='listingprice_eur_descending'),
        ),
        migrations.AddConstraint(
            model_name='listinglabel',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['tag', 'platform'])), name='listinglabel_kind_known'),
        ),
    ]
