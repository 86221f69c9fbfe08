import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.utils.timezone
import marketplace.core.ids
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Category',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=80, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(?:-[a-z0-9]+)*\\Z', 'Use lower-case letters, digits and single hyphens between them.')])),
                ('name', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True)),
                ('icon', models.CharField(blank=True, max_length=40)),
                ('sort_order', models.PositiveSmallIntegerField(default=0)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name_plural': 'categories',
                'ordering': ('sort_order', 'slug'),
            },
        ),
        migrations.CreateModel(
            name='RejectionReason',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('code', models.SlugField(max_length=60, unique=True)),
                ('field', models.CharField(blank=True, max_length=60)),
                ('message', models.CharField(max_length=300)),
                ('hint', models.CharField(max_length=300)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ('field', 'code'),
            },
        ),
        migrations.CreateModel(
            name='SearchSynonym',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('word', models.CharField(max_length=40, unique=True)),
                ('synonyms', models.CharField(max_length=200)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ('word',),
            },
        ),
        migrations.CreateModel(
            name='Listing',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('title', models.CharField(max_length=120)),
                ('slug', models.SlugField(db_index=False, max_length=80)),
                ('short_description', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('currency', models.CharField(default='USD', editable=False, max_length=3)),
                ('base_price_minor', models.BigIntegerField()),
                ('price_inr_minor', models.BigIntegerField(blank=True, null=True)),
                ('price_eur_minor', models.BigIntegerField(blank=True, null=True)),
                ('discount_bp', models.PositiveIntegerField(default=0)),
                ('tax_rate_bp', models.PositiveIntegerField(default=0)),
                ('file_type', models.CharField(blank=True, max_length=200)),
                ('supported_platforms', models.CharField(blank=True, max_length=200)),
                ('version', models.CharField(blank=True, max_length=32)),
                ('video_url', models.URLField(blank=True, max_length=2000)),
                ('readme', models.TextField(blank=True)),
                ('allowed_license_slugs', models.JSONField(blank=True, null=True)),
                ('ai_training', models.CharField(choices=[('allowed', 'Allowed'), ('forbidden', 'Forbidden'), ('by_licence', 'By licence')], default='forbidden', max_length=10)),
                ('ai_origin', models.CharField(choices=[('undeclared', 'Undeclared'), ('none', 'No part of it'), ('declared', 'Parts of it')], default='undeclared', max_length=10)),
                ('ai_parts', models.CharField(blank=True, max_length=500)),
                ('tier_requirement', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'VIP')], default='free', max_length=8)),
                ('status', models.CharField(choices=[('Draft', 'Draft'), ('PendingReview', 'Pending Review'), ('Published', 'Published'), ('Rejected', 'Rejected')], default='Draft', max_length=16)),
                ('update_status', models.CharField(blank=True, choices=[('', 'None'), ('PendingReview', 'Pending Review')], default='', max_length=16)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('category', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='listings', to='catalog.category')),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('review_listing', 'Can approve and reject listings'), ('takedown_listing', 'Can take published listings down'), ('block_deliverable', 'Can mark a file as malicious')),
            },
        ),
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
        migrations.CreateModel(
            name='LicenseTier',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=40, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('summary', models.CharField(max_length=300)),
                ('price_factor', models.DecimalField(decimal_places=2, default=Decimal('1'), help_text='Prices under two tiers are in the ratio of their factors.', max_digits=6)),
                ('sort_order', models.PositiveSmallIntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name': 'licence tier',
                'ordering': ('sort_order', 'slug'),
                'constraints': [models.CheckConstraint(condition=models.Q(('price_factor__gt', 0)), name='licensetier_factor_positive')],
            },
        ),
        migrations.CreateModel(
            name='ListingCount',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('category_slug', models.CharField(max_length=80)),
                ('tier', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'VIP')], max_length=8)),
                ('name', models.CharField(blank=True, max_length=20)),
                ('value', models.CharField(blank=True, max_length=250)),
                ('listings', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'value', 'category_slug', 'tier'), name='listingcount_once'), models.CheckConstraint(condition=models.Q(('tier__in', ['free', 'go', 'pro', 'vip'])), name='listingcount_tier_known'), models.CheckConstraint(condition=models.Q(('listings__gte', 0)), name='listingcount_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='SearchTerm',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('term', models.CharField(max_length=64)),
                ('documents', models.PositiveIntegerField(default=0)),
                ('headings', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('term',), name='searchterm_once')],
            },
        ),
        migrations.CreateModel(
            name='Store',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(db_index=False, max_length=80)),
                ('is_open', models.BooleanField(default=False)),
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='store', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['name'], name='store_name_begins', opclasses=('varchar_pattern_ops',))],
                'constraints': [models.UniqueConstraint(fields=('slug',), name='store_slug_taken')],
            },
        ),
        migrations.CreateModel(
            name='AgentManifest',
            fields=[
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='agent_manifest', serialize=False, to='catalog.listing')),
                ('body', models.JSONField()),
                ('source_digest', models.CharField(max_length=64)),
                ('generated_at', models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name='ListingIndex',
            fields=[
                ('price_usd', models.BigIntegerField()),
                ('price_inr', models.BigIntegerField(null=True)),
                ('price_eur', models.BigIntegerField(null=True)),
                ('usd_descending', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('price_usd'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('inr_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_inr', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000000000))), output_field=models.BigIntegerField())),
                ('inr_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_inr'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('eur_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_eur', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000000000))), output_field=models.BigIntegerField())),
                ('eur_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_eur'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='index', serialize=False, to='catalog.listing')),
                ('slug', models.CharField(max_length=80)),
                ('title', models.CharField(max_length=120)),
                ('category_slug', models.CharField(max_length=80)),
                ('category_name', models.CharField(max_length=120)),
                ('store_slug', models.CharField(max_length=80)),
                ('store_name', models.CharField(max_length=120)),
                ('store_logo', models.UUIDField(null=True)),
                ('tier', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'VIP')], max_length=8)),
                ('ai_training', models.CharField(choices=[('allowed', 'Allowed'), ('forbidden', 'Forbidden'), ('by_licence', 'By licence')], max_length=10)),
                ('ai_origin', models.CharField(choices=[('undeclared', 'Undeclared'), ('none', 'No part of it'), ('declared', 'Parts of it')], max_length=10)),
                ('file_type', models.CharField(blank=True, max_length=250)),
                ('list_price_usd', models.BigIntegerField()),
                ('list_price_inr', models.BigIntegerField(null=True)),
                ('list_price_eur', models.BigIntegerField(null=True)),
                ('discount_bp', models.PositiveIntegerField()),
                ('discount_ends_at', models.DateTimeField(null=True)),
                ('licenses', models.JSONField()),
                ('thumbnail', models.JSONField(null=True)),
                ('published_at', models.DateTimeField()),
                ('popularity', models.PositiveIntegerField(default=0)),
                ('popular_key', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('popularity'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('newest_key', models.BigIntegerField()),
            ],
            options={
                'verbose_name_plural': 'listing index',
                'indexes': [models.Index(fields=['popular_key', 'newest_key', 'listing'], name='listingindex_popular'), models.Index(fields=['newest_key', 'listing'], name='listingindex_newest'), models.Index(fields=['category_slug', 'popular_key', 'newest_key', 'listing'], name='listingindex_category_popular'), models.Index(fields=['category_slug', 'newest_key', 'listing'], name='listingindex_category_newest'), models.Index(fields=['store_slug', 'newest_key', 'listing'], name='listingindex_store'), models.Index(fields=['file_type', 'popular_key', 'newest_key', 'listing'], name='listingindex_type'), models.Index(fields=['ai_training', 'popular_key', 'newest_key', 'listing'], name='listingindex_ai_training'), models.Index(fields=['ai_origin', 'popular_key', 'newest_key', 'listing'], name='listingindex_ai_origin'), models.Index(fields=['price_usd', 'listing'], name='listingindex_price_usd'), models.Index(fields=['usd_descending', 'listing'], name='listingindex_usd_descending'), models.Index(fields=['inr_ascending', 'listing'], name='listingindex_inr_ascending'), models.Index(fields=['inr_descending', 'listing'], name='listingindex_inr_descending'), models.Index(fields=['eur_ascending', 'listing'], name='listingindex_eur_ascending'), models.Index(fields=['eur_descending', 'listing'], name='listingindex_eur_descending')],
                'constraints': [models.CheckConstraint(condition=models.Q(('tier__in', ['free', 'go', 'pro', 'vip'])), name='listingindex_tier_known'), models.CheckConstraint(condition=models.Q(('ai_training__in', ['allowed', 'forbidden', 'by_licence'])), name='listingindex_ai_training_known'), models.CheckConstraint(condition=models.Q(('ai_origin__in', ['undeclared', 'none', 'declared'])), name='listingindex_ai_origin_known')],
            },
        ),
        migrations.CreateModel(
            name='ListingStats',
            fields=[
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='stats', serialize=False, to='catalog.listing')),
                ('purchases', models.PositiveIntegerField(default=0)),
            ],
            options={
                'verbose_name_plural': 'listing stats',
            },
        ),
        migrations.AddField(
            model_name='listing',
            name='store',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='listings', to='catalog.store'),
        ),
        migrations.CreateModel(
            name='Deliverable',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('object_key', models.CharField(max_length=200, unique=True)),
                ('original_filename', models.CharField(max_length=200)),
                ('file_size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('crc32', models.BigIntegerField()),
                ('format', models.CharField(max_length=16)),
                ('technical', models.JSONField(default=dict)),
                ('entries', models.JSONField(default=list)),
                ('version', models.CharField(blank=True, max_length=32)),
                ('uploaded_at', models.DateTimeField(auto_now_add=True)),
                ('approved_at', models.DateTimeField(blank=True, null=True)),
                ('blocked_at', models.DateTimeField(blank=True, null=True)),
                ('fingerprint', models.CharField(blank=True, max_length=100)),
                ('verified_at', models.DateTimeField(blank=True, null=True)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliverables', to='catalog.listing')),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(condition=models.Q(('approved_at__isnull', False)), fields=['listing', '-approved_at'], name='deliverable_versions'), models.Index(fields=['verified_at', 'id'], name='deliverable_verified'), models.Index(fields=['sha256'], name='deliverable_bytes')],
                'constraints': [models.CheckConstraint(condition=models.Q(('file_size__range', (1, 5368709120))), name='deliverable_size_range'), models.CheckConstraint(condition=models.Q(('crc32__range', (0, 4294967295))), name='deliverable_crc_range'), models.UniqueConstraint(condition=models.Q(('approved_at__isnull', False), models.Q(('version', ''), _negated=True)), fields=('listing', 'version'), name='deliverable_version_taken')],
            },
        ),
        migrations.AddField(
            model_name='listing',
            name='approved_deliverable',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable'),
        ),
        migrations.AddField(
            model_name='listing',
            name='candidate_deliverable',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable'),
        ),
        migrations.CreateModel(
            name='FeaturedListing',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('position', models.PositiveSmallIntegerField(default=0, help_text='The lowest comes first.')),
                ('added_at', models.DateTimeField(auto_now_add=True)),
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='featured', to='catalog.listing')),
            ],
            options={
                'ordering': ('position', 'id'),
            },
        ),
        migrations.CreateModel(
            name='LicenseTerms',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('version', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=120)),
                ('text', models.TextField(max_length=30000)),
                ('permissions', models.JSONField(blank=True, default=dict)),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tier', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='terms', to='catalog.licensetier')),
            ],
            options={
                'verbose_name': 'licence terms',
                'verbose_name_plural': 'licence terms',
                'ordering': ('tier__sort_order', '-version'),
                'constraints': [models.UniqueConstraint(fields=('tier', 'version'), name='licenseterms_version_once')],
            },
        ),
        migrations.CreateModel(
            name='StorePicture',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('object_key', models.CharField(max_length=200, unique=True)),
                ('content_type', models.CharField(max_length=40)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('verified_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('Logo', 'Logo'), ('Banner', 'Banner')], max_length=16)),
                ('details', models.JSONField(default=dict)),
                ('renditions', models.JSONField(default=dict)),
                ('uploaded_at', models.DateTimeField(auto_now_add=True)),
                ('store', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pictures', to='catalog.store')),
            ],
            options={
                'abstract': False,
                'default_permissions': (),
                'indexes': [models.Index(fields=['verified_at', 'id'], name='storepicture_verified')],
                'constraints': [models.UniqueConstraint(fields=('store', 'kind'), name='storepicture_one_of_each_kind'), models.CheckConstraint(condition=models.Q(('kind__in', ['Logo', 'Banner'])), name='storepicture_kind_known')],
            },
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.UniqueConstraint(fields=('slug',), name='listing_slug_taken'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['Draft', 'PendingReview', 'Published', 'Rejected'])), name='listing_status_known'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('update_status', ''), models.Q(('status', 'Published'), ('update_status', 'PendingReview')), _connector='OR'), name='listing_update_needs_published'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'Published'), _negated=True), models.Q(('approved_deliverable__isnull', False), ('published_at__isnull', False)), _connector='OR'), name='listing_published_has_file'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('tier_requirement__in', ['free', 'go', 'pro', 'vip'])), name='listing_tier_known'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('ai_training__in', ['allowed', 'forbidden', 'by_licence'])), name='listing_ai_training_known'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('ai_origin__in', ['undeclared', 'none', 'declared'])), name='listing_ai_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(models.Q(('ai_parts', ''), _negated=True), ('ai_origin', 'declared')), models.Q(models.Q(('ai_origin', 'declared'), _negated=True), ('ai_parts', '')), _connector='OR'), name='listing_ai_parts_declared'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('base_price_minor__range', (0, 99999999))), name='listing_base_price_range'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('price_inr_minor__isnull', True), ('price_inr_minor__range', (0, 99999999)), _connector='OR'), name='listing_inr_price_range'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('price_eur_minor__isnull', True), ('price_eur_minor__range', (0, 99999999)), _connector='OR'), name='listing_eur_price_range'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('discount_bp__lte', 10000)), name='listing_discount_range'),
        ),
        migrations.AddConstraint(
            model_name='listing',
            constraint=models.CheckConstraint(condition=models.Q(('tax_rate_bp__lte', 10000)), name='listing_tax_range'),
        ),
        migrations.CreateModel(
            name='Discount',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('percent', models.PositiveSmallIntegerField()),
                ('code', models.CharField(blank=True, max_length=24)),
                ('starts_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ends_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('listing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='discounts', to='catalog.listing')),
            ],
            options={
                'ordering': ('-starts_at', '-id'),
                'permissions': (('end_discount', 'Can end discounts of vendors'),),
                'indexes': [models.Index(fields=['listing', 'code', 'ends_at'], name='discount_of_listing')],
                'constraints': [models.CheckConstraint(condition=models.Q(('percent__range', (1, 90))), name='discount_percent_range'), models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='discount_lasts')],
            },
        ),
        migrations.CreateModel(
            name='FileFacts',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('sha256', models.CharField(max_length=64)),
                ('facts', models.JSONField(default=dict)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.listing')),
            ],
            options={
                'verbose_name_plural': 'file facts',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('listing', 'sha256'), name='filefacts_one_for_each_file')],
            },
        ),
        migrations.CreateModel(
            name='FormerPreview',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('object_key', models.CharField(max_length=200, unique=True)),
                ('content_type', models.CharField(max_length=40)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('verified_at', models.DateTimeField(blank=True, null=True)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_previews', to='catalog.listing')),
            ],
            options={
                'abstract': False,
                'default_permissions': (),
                'indexes': [models.Index(fields=['verified_at', 'id'], name='formerpreview_verified')],
                'constraints': [models.UniqueConstraint(fields=('listing', 'sha256'), name='formerpreview_one_for_each_picture')],
            },
        ),
        migrations.CreateModel(
            name='ListingReview',
            fields=[
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('Listing', 'Listing'), ('Update', 'Update'), ('Takedown', 'Takedown')], default='Listing', max_length=16)),
                ('status', models.CharField(choices=[('Pending', 'Pending'), ('Approved', 'Approved'), ('Rejected', 'Rejected'), ('Withdrawn', 'Withdrawn')], default='Pending', max_length=16)),
                ('submitted_at', models.DateTimeField()),
                ('checks', models.JSONField(default=list)),
                ('snapshot', models.JSONField(default=dict)),
                ('findings', models.JSONField(default=list)),
                ('note', models.TextField(blank=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='catalog.listing')),
                ('submitted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(condition=models.Q(('status', 'Pending')), fields=['submitted_at', 'id'], name='listingreview_queue'), models.Index(fields=['decided_at'], name='listingreview_decided')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'Pending')), fields=('listing',), name='listingreview_one_open'), models.CheckConstraint(condition=models.Q(('status__in', ['Pending', 'Approved', 'Rejected', 'Withdrawn'])), name='listingreview_status_known'), models.CheckConstraint(condition=models.Q(('kind__in', ['Listing', 'Update', 'Takedown'])), name='listingreview_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Preview',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('object_key', models.CharField(max_length=200, unique=True)),
                ('content_type', models.CharField(max_length=40)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('verified_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('Gallery', 'Gallery'), ('FontSpecimen', 'Font Specimen'), ('AudioPreview', 'Audio Preview')], max_length=16)),
                ('slot', models.PositiveSmallIntegerField(default=0)),
                ('details', models.JSONField(default=dict)),
                ('renditions', models.JSONField(default=dict)),
                ('alt_text', models.CharField(blank=True, db_default='', default='', max_length=250)),
                ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='previews', to='catalog.listing')),
            ],
            options={
                'ordering': ('kind', 'slot'),
                'abstract': False,
                'indexes': [models.Index(fields=['verified_at', 'id'], name='preview_verified')],
                'constraints': [models.UniqueConstraint(fields=('listing', 'kind', 'slot'), name='preview_one_in_slot'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'Gallery'), ('slot__lt', 5)), models.Q(('kind__in', ['FontSpecimen', 'AudioPreview']), ('slot', 0)), _connector='OR'), name='preview_slot_range')],
            },
        ),
        migrations.CreateModel(
            name='PurchaseCountChange',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('change', models.SmallIntegerField()),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.listing')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('change__in', (1, -1))), name='purchasecountchange_one')],
            },
        ),
        migrations.CreateModel(
            name='SearchDocument',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('title_key', models.BigIntegerField(db_index=True)),
                ('title', models.TextField()),
                ('tags', models.TextField(blank=True)),
                ('summary', models.TextField(blank=True)),
                ('body', models.TextField(blank=True)),
                ('is_shown', models.BooleanField(default=True)),
                ('is_popular', models.BooleanField(default=True)),
                ('is_new', models.BooleanField(default=True)),
                ('popularity', models.IntegerField(default=0)),
                ('published_at', models.DateTimeField()),
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='search_document', to='catalog.listing')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_new', True)), fields=['published_at'], name='searchdocument_new')],
            },
        ),
        migrations.CreateModel(
            name='FilePreview',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('object_key', models.CharField(max_length=200, unique=True)),
                ('content_type', models.CharField(max_length=40)),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('verified_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('FontStyle', 'Font Style'), ('Animation', 'Animation')], max_length=16)),
                ('position', models.PositiveSmallIntegerField()),
                ('details', models.JSONField(default=dict)),
                ('renditions', models.JSONField(default=dict)),
                ('deliverable', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='file_previews', to='catalog.deliverable')),
            ],
            options={
                'ordering': ('position',),
                'abstract': False,
                'default_permissions': (),
                'indexes': [models.Index(fields=['verified_at', 'id'], name='filepreview_verified')],
                'constraints': [models.UniqueConstraint(fields=('deliverable', 'position'), name='filepreview_one_at_each_position'), models.CheckConstraint(condition=models.Q(('kind__in', ['FontStyle', 'Animation'])), name='filepreview_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='ListingPrice',
            fields=[
                ('price_usd', models.BigIntegerField()),
                ('price_inr', models.BigIntegerField(null=True)),
                ('price_eur', models.BigIntegerField(null=True)),
                ('usd_descending', models.GeneratedField(db_persist=True, expression=django.db.models.expressions.CombinedExpression(models.F('price_usd'), '*', models.Value(-1)), output_field=models.BigIntegerField())),
                ('inr_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_inr', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000000000))), output_field=models.BigIntegerField())),
                ('inr_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_inr'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('eur_ascending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce('price_eur', django.db.models.expressions.CombinedExpression(models.F('price_usd'), '+', models.Value(1000000000000000))), output_field=models.BigIntegerField())),
                ('eur_descending', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Coalesce(django.db.models.expressions.CombinedExpression(models.F('price_eur'), '*', models.Value(-1)), django.db.models.expressions.CombinedExpression(models.Value(1000000000000000), '-', models.F('price_usd'))), output_field=models.BigIntegerField())),
                ('pk', models.CompositePrimaryKey('listing_id', 'license', blank=True, editable=False, primary_key=True, serialize=False)),
                ('license', models.CharField(max_length=40)),
                ('listing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='prices', to='catalog.listingindex')),
            ],
            options={
                'indexes': [models.Index(fields=['license', 'price_usd', 'listing'], name='listingprice_price_usd'), models.Index(fields=['license', 'usd_descending', 'listing'], name='listingprice_usd_descending'), models.Index(fields=['license', 'inr_ascending', 'listing'], name='listingprice_inr_ascending'), models.Index(fields=['license', 'inr_descending', 'listing'], name='listingprice_inr_descending'), models.Index(fields=['license', 'eur_ascending', 'listing'], name='listingprice_eur_ascending'), models.Index(fields=['license', 'eur_descending', 'listing'], name='listingprice_eur_descending')],
            },
        ),
        migrations.CreateModel(
            name='ListingLabel',
            fields=[
                ('pk', models.CompositePrimaryKey('listing_id', 'kind', 'value', blank=True, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('tag', 'Tag'), ('platform', 'Platform')], max_length=20)),
                ('value', models.CharField(max_length=250)),
                ('listing', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='catalog.listingindex')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'value', 'listing'], name='listinglabel_value')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['tag', 'platform'])), name='listinglabel_kind_known')],
            },
        ),
    ]
