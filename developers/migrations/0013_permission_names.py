"""Permissions are named in the words of the admin."""

from django.db import migrations

from marketplace.core.db.permission_names import AFTER, rename_permissions

NAMES = {
    "withdraw_consent": "Can disconnect apps from users' accounts",
    "set_ceiling_app": "Can set an app's spending cap",
}


class Migration(migrations.Migration):
    """The names of permissions alone; their codenames stay."""

    old_code_runs_because = "it asks for permissions by their codenames"

    dependencies = [("developers", "0012_admin_search"), *AFTER]
    operations = [
        migrations.AlterModelOptions(
            name='app',
            options={'ordering': ('-id',), 'permissions': (('decide_app', "Can decide on an app's scopes"), ('suspend_app', 'Can suspend and reinstate apps'), ('set_ceiling_app', "Can set an app's spending cap"))},
        ),
        migrations.AlterModelOptions(
            name='consent',
            options={'ordering': ('-id',), 'permissions': (('withdraw_consent', "Can disconnect apps from users' accounts"),)},
        ),
        rename_permissions("developers", NAMES),
    ]
