import django.db.models.deletion
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('action', models.CharField(max_length=64)),
                ('subject_type', models.CharField(max_length=64)),
                ('subject_id', models.CharField(max_length=64)),
                ('from_state', models.CharField(blank=True, max_length=32)),
                ('to_state', models.CharField(blank=True, max_length=32)),
                ('reason', models.TextField(blank=True)),
                ('data', models.JSONField(default=dict)),
                ('request_id', models.CharField(blank=True, max_length=64)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ('-id',),
                'indexes': [models.Index(fields=['subject_type', 'subject_id', '-id'], name='audit_subject'), models.Index(condition=models.Q(('request_id', ''), _negated=True), fields=['request_id'], name='audit_request')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('requester_id', models.UUIDField()),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.CharField(max_length=64)),
                ('response', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'requester_id', 'key'), name='idempotencyrecord_key_used')],
            },
        ),
    ]
