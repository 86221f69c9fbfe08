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
            name='Installation',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('sandbox', models.BooleanField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='installation_one_row')],
            },
        ),
        migrations.CreateModel(
            name='SitePage',
            fields=[
                ('slug', models.CharField(choices=[('terms', 'Terms of service'), ('privacy', 'Privacy'), ('refunds', 'Refunds'), ('contact', 'Contact')], max_length=16, primary_key=True, serialize=False, verbose_name='page')),
                ('text', models.TextField(blank=True, help_text='Markdown. While it is empty, visitors read that the page is not written yet.', max_length=65536)),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='last changed')),
            ],
            options={
                'ordering': ('slug',),
                'default_permissions': ('change', 'view'),
                'constraints': [models.CheckConstraint(condition=models.Q(('slug__in', ['terms', 'privacy', 'refunds', 'contact'])), name='sitepage_slug_known')],
            },
        ),
        migrations.CreateModel(
            name='AccountExport',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('requested_at', models.DateTimeField()),
                ('encrypted', models.TextField(blank=True)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('expires_at', models.DateTimeField()),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['expires_at'], name='accountexport_expires')],
            },
        ),
    ]
