"""Permissions are named in the words of the admin."""

from django.db import migrations

from marketplace.core.db.permission_names import AFTER, rename_permissions

NAMES = {
    "retry_job": "Can restart dead jobs",
}


class Migration(migrations.Migration):
    """The names of permissions alone; their codenames stay."""

    old_code_runs_because = "it asks for permissions by their codenames"

    dependencies = [("jobs", "0001_queue"), *AFTER]
    operations = [
        migrations.AlterModelOptions(
            name='job',
            options={'default_permissions': ('view',), 'permissions': (('retry_job', 'Can restart dead jobs'),)},
        ),
        rename_permissions("jobs", NAMES),
    ]
