import django.db.models.deletion
import django.utils.timezone
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('core', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedReply',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('use', models.CharField(choices=[('application.approve', 'Developer application: approve'), ('application.reject', 'Developer application: reject'), ('application.ask', 'Developer application: ask a question'), ('vendor.approve', 'Vendor: approve'), ('vendor.reject', 'Vendor: reject'), ('vendor.suspend', 'Vendor: suspend'), ('metadata_review.accept', 'Changed client: accept'), ('metadata_review.refuse', 'Changed client: refuse')], max_length=40, verbose_name='decision')),
                ('text', models.CharField(max_length=300)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name': 'saved reply',
                'verbose_name_plural': 'saved replies',
                'ordering': ('use', 'text'),
                'constraints': [models.UniqueConstraint(fields=('use', 'text'), name='savedreply_once'), models.CheckConstraint(condition=models.Q(('use__in', ['application.approve', 'application.reject', 'application.ask', 'vendor.approve', 'vendor.reject', 'vendor.suspend', 'metadata_review.accept', 'metadata_review.refuse'])), name='savedreply_use_known')],
            },
        ),
        migrations.CreateModel(
            name='Appeal',
            fields=[
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('text', models.TextField(max_length=2000, verbose_name='why it is wrong')),
                ('status', models.CharField(choices=[('Pending', 'Pending'), ('Dismissed', 'Dismissed'), ('Accepted', 'Accepted')], default='Pending', max_length=16)),
                ('submitted_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('answer', models.TextField(blank=True, max_length=2000)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('appellant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('claimed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decision', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='appeal', to='core.auditentry')),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('decide_appeal', 'Can decide on appeals'),),
                'default_permissions': ('view',),
                'indexes': [models.Index(condition=models.Q(('status', 'Pending')), fields=['submitted_at', 'id'], name='appeal_queue'), models.Index(fields=['decided_at'], name='appeal_decided'), models.Index(fields=['appellant', '-id'], name='appeal_of')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('status', 'Pending')), models.Q(('decided_at__isnull', False), ('decided_by__isnull', False), ('status__in', ('Dismissed', 'Accepted')), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='appeal_status_consistent')],
            },
        ),
    ]
