"""Permissions are named in the words of the admin."""

from django.db import migrations

from marketplace.core.db.permission_names import AFTER, rename_permissions

NAMES = {
    "set_payout_vendorprofile": "Can set a vendor's payout method",
}


class Migration(migrations.Migration):
    """The names of permissions alone; their codenames stay."""

    old_code_runs_because = "it asks for permissions by their codenames"

    dependencies = [("vendors", "0002_review_claims"), *AFTER]
    operations = [
        migrations.AlterModelOptions(
            name='vendorprofile',
            options={'ordering': ('-id',), 'permissions': (('decide_vendorprofile', 'Can approve, suspend and reinstate vendors'), ('set_commission_vendorprofile', "Can set a vendor's commission"), ('set_payout_vendorprofile', "Can set a vendor's payout method"))},
        ),
        rename_permissions("vendors", NAMES),
    ]
