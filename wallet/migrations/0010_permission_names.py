"""Permissions are named in the words of the admin."""

from django.db import migrations

from marketplace.core.db.permission_names import AFTER, rename_permissions

NAMES = {
    "pay_unclaimed_order": "Can pay refunds owed to deleted accounts",
    "decide_withdrawal": "Can decide on wallet payouts and view payment details",
}


class Migration(migrations.Migration):
    """The names of permissions alone; their codenames stay."""

    old_code_runs_because = "it asks for permissions by their codenames"

    dependencies = [("wallet", "0009_credit_references"), *AFTER]
    operations = [
        migrations.AlterModelOptions(
            name='order',
            options={'ordering': ('-id',), 'permissions': (('refund_order', 'Can refund orders'), ('pay_unclaimed_order', 'Can pay refunds owed to deleted accounts'))},
        ),
        migrations.AlterModelOptions(
            name='withdrawal',
            options={'ordering': ('-id',), 'permissions': (('decide_withdrawal', 'Can decide on wallet payouts and view payment details'),), 'verbose_name': 'wallet payout'},
        ),
        rename_permissions("wallet", NAMES),
    ]
