import django.db.models.deletion
import django.utils.timezone
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalog', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Licence',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('licensee_name', models.CharField(blank=True, max_length=120)),
                ('licensee_email', models.EmailField(blank=True, max_length=254)),
                ('claim_digest', models.CharField(blank=True, max_length=64)),
                ('claim_sent_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('order_id', models.UUIDField(editable=False)),
                ('title', models.CharField(max_length=120)),
                ('store_name', models.CharField(max_length=120)),
                ('version', models.CharField(blank=True, max_length=32)),
                ('ai_training', models.CharField(choices=[('allowed', 'Allowed'), ('forbidden', 'Forbidden'), ('by_licence', 'By licence')], default='forbidden', max_length=10)),
                ('acquired_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('suspended_at', models.DateTimeField(blank=True, null=True)),
                ('replaced_at', models.DateTimeField(blank=True, null=True)),
                ('revoke_reason', models.CharField(blank=True, max_length=2000)),
                ('deliverable', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable')),
                ('holder', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='licences', to=settings.AUTH_USER_MODEL)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='licences', to='catalog.listing')),
                ('replaces', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replaced_by', to='library.licence')),
                ('terms', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.licenseterms')),
                ('tier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.licensetier')),
            ],
            options={
                'ordering': ('-acquired_at', '-id'),
                'indexes': [models.Index(condition=models.Q(('replaced_at__isnull', True), ('revoked_at__isnull', True)), fields=['holder', '-acquired_at', '-id'], name='licence_newest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True)), fields=('holder', 'listing', 'tier'), name='licence_one_unrevoked'), models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True), models.Q(('licensee_email', ''), _negated=True)), fields=('licensee_email', 'listing', 'tier'), name='licence_one_for_licensee'), models.UniqueConstraint(condition=models.Q(('claim_digest', ''), _negated=True), fields=('claim_digest',), name='licence_claim_once'), models.CheckConstraint(condition=models.Q(('holder__isnull', False), models.Q(models.Q(('licensee_email', ''), _negated=True), ('claim_sent_at__isnull', False), ('claimed_at__isnull', True)), _connector='OR'), name='licence_has_licensee'), models.UniqueConstraint(fields=('order_id',), name='licence_one_for_order'), models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True)), fields=('replaces',), name='licence_one_upgrade'), models.CheckConstraint(condition=models.Q(('ai_training__in', ['allowed', 'forbidden', 'by_licence'])), name='licence_ai_training_known')],
            },
        ),
        migrations.CreateModel(
            name='StatusListPosition',
            fields=[
                ('licence', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='status_list_position', serialize=False, to='library.licence')),
                ('position', models.PositiveIntegerField(unique=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Package',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('recipe', models.CharField(max_length=64, unique=True)),
                ('readme_text', models.TextField()),
                ('license_text', models.TextField()),
                ('size', models.BigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('object_key', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('deliverable', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable')),
            ],
        ),
        migrations.CreateModel(
            name='UpdateAnnouncement',
            fields=[
                ('listing', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='catalog.listing')),
                ('announced_at', models.DateTimeField()),
                ('deliverable', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.deliverable')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='DownloadLink',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('credential_kind', models.CharField(blank=True, max_length=16)),
                ('credential_id', models.UUIDField(blank=True, null=True)),
                ('file_name', models.CharField(max_length=200)),
                ('version', models.CharField(blank=True, max_length=32)),
                ('issued_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('app', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('deliverable', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.deliverable')),
                ('licence', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='links', to='library.licence')),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='catalog.listing')),
                ('package', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='library.package')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='download_links', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['deliverable', 'user'], name='downloadlink_file_user')],
            },
        ),
        migrations.CreateModel(
            name='Download',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('byte_range', models.CharField(blank=True, max_length=100)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='downloads', to='library.downloadlink')),
            ],
            options={
                'ordering': ('-id',),
            },
        ),
        migrations.CreateModel(
            name='Favourite',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('added_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.listing')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='favourites', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-added_at', '-id'),
                'default_permissions': (),
                'indexes': [models.Index(fields=['user', '-added_at', '-id'], name='favourite_newest')],
                'constraints': [models.UniqueConstraint(fields=('user', 'listing'), name='favourite_once')],
            },
        ),
    ]
