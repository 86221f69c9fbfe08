import django.db.models.deletion
import django.db.models.functions.datetime
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalog', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('filename', models.CharField(max_length=200)),
                ('size', models.BigIntegerField()),
                ('offset', models.BigIntegerField(default=0)),
                ('parts', models.JSONField(default=list)),
                ('expires_at', models.DateTimeField()),
                ('finishing_until', models.DateTimeField(blank=True, null=True)),
                ('deliverable', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalog.deliverable')),
                ('listing', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='catalog.listing')),
            ],
            options={
                'ordering': ('-id',),
                'default_permissions': (),
                'indexes': [models.Index(fields=['expires_at'], name='upload_expires')],
                'constraints': [models.CheckConstraint(condition=models.Q(('size__range', (1, 5368709120))), name='upload_size_range'), models.CheckConstraint(condition=models.Q(('offset__gte', 0), ('offset__lte', models.F('size'))), name='upload_offset_range')],
            },
        ),
        migrations.CreateModel(
            name='VendorProfile',
            fields=[
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('Approved', 'Approved'), ('Pending', 'Pending'), ('Suspended', 'Suspended')], default='Pending', max_length=16)),
                ('bio', models.TextField(blank=True)),
                ('application_data', models.JSONField(blank=True, default=dict)),
                ('commission_rate_bp', models.PositiveIntegerField(default=2000)),
                ('payouts_held_at', models.DateTimeField(blank=True, null=True)),
                ('applied_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('store', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='vendor_profile', to='catalog.store')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='vendor_profile', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-id',),
                'permissions': (('decide_vendorprofile', 'Can approve, reject, suspend and reinstate vendors, and remove their pictures'), ('set_commission_vendorprofile', "Can set a vendor's commission"), ('hold_payouts_vendorprofile', "Can hold and release a vendor's payouts")),
                'indexes': [models.Index(fields=['status', '-id'], name='vendorprofile_queue')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['Approved', 'Pending', 'Suspended'])), name='vendorprofile_status_known'), models.CheckConstraint(condition=models.Q(('commission_rate_bp__lte', 10000)), name='vendorprofile_commission_range')],
            },
        ),
        migrations.CreateModel(
            name='PayoutDetails',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('currency', models.CharField(max_length=3)),
                ('encrypted', models.TextField(blank=True)),
                ('label', models.CharField(blank=True, max_length=40)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payout_details', to='vendors.vendorprofile')),
            ],
            options={
                'verbose_name': 'bank account',
                'verbose_name_plural': 'bank accounts',
                'ordering': ('-id',),
                'default_permissions': (),
                'indexes': [models.Index(fields=['profile', 'currency', '-created_at'], name='payoutdetails_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('currency__in', ['INR', 'USD'])), name='payoutdetails_currency_known')],
            },
        ),
    ]
