import marketplace.core.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='SavedReply',
            fields=[
                ('id', models.UUIDField(default=marketplace.core.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('use', models.CharField(choices=[('application.approve', 'Developer application: approve'), ('application.reject', 'Developer application: reject'), ('application.ask', 'Developer application: ask a question'), ('vendor.approve', 'Vendor: approve'), ('vendor.suspend', 'Vendor: suspend'), ('client_document.accept', 'Changed client: accept'), ('client_document.refuse', 'Changed client: refuse')], max_length=40, verbose_name='decision')),
                ('text', models.CharField(max_length=300)),
                ('is_active', models.BooleanField(default=True)),
            ],
            options={
                'verbose_name': 'saved reply',
                'verbose_name_plural': 'saved replies',
                'ordering': ('use', 'text'),
                'constraints': [models.UniqueConstraint(fields=('use', 'text'), name='savedreply_once'), models.CheckConstraint(condition=models.Q(('use__in', ['application.approve', 'application.reject', 'application.ask', 'vendor.approve', 'vendor.suspend', 'client_document.accept', 'client_document.refuse'])), name='savedreply_use_known')],
            },
        ),
    ]
