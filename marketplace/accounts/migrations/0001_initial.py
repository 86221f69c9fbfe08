import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import marketplace.core.ids
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('email', models.EmailField(max_length=254, unique=True)),
                ('name', models.CharField(blank=True, max_length=120)),
                ('tier', models.CharField(choices=[('free', 'Free'), ('go', 'Go'), ('pro', 'Pro'), ('vip', 'VIP')], default='free', max_length=8)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False)),
                ('session_epoch', models.PositiveIntegerField(default=0, editable=False)),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'permissions': (('set_tier_user', "Can change a user's tier"), ('deactivate_user', 'Can deactivate and reactivate accounts'), ('grant_staff_user', 'Can grant access to the admin'), ('erase_user', 'Can permanently delete accounts'), ('remove_second_factor_user', "Can turn off a user's two-factor sign-in")),
                'indexes': [models.Index(fields=['name'], name='user_name_begins', opclasses=('varchar_pattern_ops',))],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_any_case'), models.CheckConstraint(condition=models.Q(('tier__in', ['free', 'go', 'pro', 'vip'])), name='user_tier_known')],
            },
        ),
        migrations.CreateModel(
            name='MailOptOut',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.CharField(choices=[('purchase', 'Receipts of your purchases'), ('refund', 'Refunds to your wallet'), ('update', 'New versions of what you own'), ('sale', 'Sales of your listings'), ('payout', 'Payouts of your earnings')], max_length=16)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mail_opt_outs', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('user', 'topic'), name='mailoptout_once'), models.CheckConstraint(condition=models.Q(('topic__in', ['purchase', 'refund', 'update', 'sale', 'payout'])), name='mailoptout_topic_known')],
            },
        ),
    ]
