from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('django_tasks_database', '0021_conditional_partial_index_ordering'),
    ]

    operations = [
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('command', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('last_due_at', models.DateTimeField()),
                ('job_id', models.UUIDField(null=True)),
            ],
            options={
                'ordering': ('command',),
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.CharField(max_length=32, primary_key=True, serialize=False)),
                ('host', models.CharField(max_length=200)),
                ('pid', models.PositiveIntegerField()),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('seen_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'ordering': ('-seen_at',),
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
            ],
            options={
                'permissions': (('retry_job', 'Can restart failed jobs'),),
                'proxy': True,
                'default_permissions': ('view',),
                'indexes': [],
                'constraints': [],
            },
            bases=('django_tasks_database.dbtaskresult',),
        ),
    ]
