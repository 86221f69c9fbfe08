"""Permissions are named in the words of the admin."""

from django.db import migrations

from marketplace.core.db.permission_names import AFTER, rename_permissions

NAMES = {
    "deactivate_user": "Can deactivate and reactivate accounts",
    "grant_staff_user": "Can grant access to the admin",
    "erase_user": "Can permanently delete accounts",
}


class Migration(migrations.Migration):
    """The names of permissions alone; their codenames stay."""

    old_code_runs_because = "it asks for permissions by their codenames"

    dependencies = [("accounts", "0004_admin_search"), *AFTER]
    operations = [
        migrations.AlterModelOptions(
            name='user',
            options={'permissions': (('set_tier_user', "Can change a user's tier"), ('deactivate_user', 'Can deactivate and reactivate accounts'), ('grant_staff_user', 'Can grant access to the admin'), ('erase_user', 'Can permanently delete accounts'))},
        ),
        rename_permissions("accounts", NAMES),
    ]
