"""Orders say what was bought, journals what they mean to their wallet and vendor; what was written before is told the same.

What is not known any more, because nobody kept it, is taken as it stands now: title, store, the licence's name, and the tax
rate if it makes the tax that was paid. Seals are over the new facts too, so the old ones make room: the next sealing seals all
that was ever written and adds it up. Run `reconcile` before, as long as the old seals still tell.
"""

from bisect import bisect_left

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, OuterRef, Q, Subquery

BATCH = 500
GUARDED = ("wallet_journal", "wallet_transfer", "wallet_payout", "wallet_ledgerseal", "wallet_sealedjournal", "wallet_ledgeraccount")
WHOLE_BP = 10_000
WHOLE_PERCENT = 100


def lift(apps, schema_editor):
    """Switch off the triggers that refuse changes; SQLite's are lifted already (`marketplace.core.db.guards`)."""
    _triggers(schema_editor, "DISABLE")


def guard(apps, schema_editor):
    """Check what waits for the commit now, so that the tables can be altered further, and switch the triggers on again."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")
    _triggers(schema_editor, "ENABLE")


def _triggers(schema_editor, verb):
    if schema_editor.connection.vendor == "postgresql":
        for table in GUARDED:
            schema_editor.execute(f"ALTER TABLE {table} {verb} TRIGGER USER")


def forget_seals(apps, schema_editor):
    """Drop the seals, and what they added up: they are over other facts on the other side of this migration."""
    account, member, seal = (apps.get_model("wallet", name) for name in ("LedgerAccount", "SealedJournal", "LedgerSeal"))
    account.objects.exclude(kind="wallet").update(balance_minor=0)
    for model in (member, seal):
        model.objects.all()._raw_delete(schema_editor.connection.alias)


def tell_orders(apps, schema_editor):
    """Say of each order what its listing, store and licence are called, at which rate it was taxed, and whose limits it counts in."""
    order, listing, tier = apps.get_model("wallet", "Order"), apps.get_model("catalog", "Listing"), apps.get_model("catalog", "LicenseTier")
    of_listing = listing.objects.filter(pk=OuterRef("listing"))
    for ids in _pages(order.objects.all()):
        rows = order.objects.filter(pk__in=ids)
        rows.update(
            title=Subquery(of_listing.values("title")),
            store_name=Subquery(of_listing.values("store__name")),
            license_name=Subquery(tier.objects.filter(pk=OuterRef("tier")).values("name")),
        )
        rows.filter(app__isnull=True, credential_kind="personal").update(spender_id=F("credential_id"))
        _tell_rates(rows)


def tell_quotes(apps, schema_editor):
    """Say of each quote at which rate it taxes."""
    quote = apps.get_model("wallet", "Quote")
    for ids in _pages(quote.objects.all()):
        _tell_rates(quote.objects.filter(pk__in=ids))


def _tell_rates(rows):
    told = list(rows.annotate(present=F("listing__tax_rate_bp")))
    for row in told:
        row.tax_rate_bp = _rate(row.price_minor, row.tax_minor, row.present)
    rows.model.objects.bulk_update(told, ["tax_rate_bp"])


def _rate(price, tax, present):
    """Return the rate at which a price has this tax inside: the present one if it has, else the least whole percent, else the least."""

    def inside(rate):
        return (2 * price * rate + WHOLE_BP + rate) // (2 * (WHOLE_BP + rate))

    if inside(present) == tax:
        return present
    least = bisect_left(range(WHOLE_BP + 1), tax, key=inside)
    whole = -(-least // WHOLE_PERCENT) * WHOLE_PERCENT
    return whole if inside(whole) == tax else least


def tell_journals(apps, schema_editor):
    """Say of each journal what its transfers mean to the wallet and to the vendor that they touch."""
    account, journal, transfer = (apps.get_model("wallet", name) for name in ("LedgerAccount", "Journal", "Transfer"))
    for ids in _pages(account.objects.filter(kind="vendor")):
        for account_id in ids:
            told = [journal(pk=pk, vendor_id=account_id, vendor_net_minor=net) for pk, net in _nets(transfer, account_id)]
            journal.objects.bulk_update(told, ["vendor", "vendor_net_minor"], batch_size=BATCH)
    for ids in _pages(account.objects.filter(kind="wallet")):
        for account_id in ids:
            told, balance = [], 0
            for number, (pk, net) in enumerate(_chained(_nets(transfer, account_id)), 1):
                balance += net
                entry = {"wallet_entry": number, "wallet_net_minor": net, "wallet_balance_minor": balance}
                told.append(journal(pk=pk, wallet_id=account_id, **entry))
            fields = ["wallet", "wallet_entry", "wallet_net_minor", "wallet_balance_minor"]
            journal.objects.bulk_update(told, fields, batch_size=BATCH)
            account.objects.filter(pk=account_id).update(entries=len(told))


def _nets(transfer, account_id):
    """Return (journal, what came or went) of an account, oldest first."""
    nets = {}
    rows = transfer.objects.filter(Q(debit=account_id) | Q(credit=account_id)).order_by("journal__at", "journal", "pk")
    for journal_id, credit_id, amount in rows.values_list("journal_id", "credit_id", "amount_minor"):
        nets[journal_id] = nets.get(journal_id, 0) + (amount if credit_id == account_id else -amount)
    return list(nets.items())


def _chained(nets):
    """Yield the entries so that a wallet never holds less than nothing: clocks of several machines may have differed."""
    balance, early = 0, []
    for entry in nets:
        early.append(entry)
        while affordable := next((one for one in early if balance + one[1] >= 0), None):
            early.remove(affordable)
            balance += affordable[1]
            yield affordable


def _pages(rows):
    """Yield the ids of all rows, some at a time."""
    after = None
    while ids := list((rows if after is None else rows.filter(pk__gt=after)).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        yield ids
        after = ids[-1]


class Migration(migrations.Migration):

    dependencies = [
        ('catalog', '0013_uncounted_purchases'),
        ('wallet', '0005_payouts_and_seals'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        migrations.swappable_dependency(settings.OAUTH2_PROVIDER_APPLICATION_MODEL),
    ]

    operations = [
        migrations.RunPython(lift, guard),
        migrations.RemoveConstraint(
            model_name='ledgeraccount',
            name='ledgeraccount_only_wallets_bounded',
        ),
        migrations.RemoveIndex(
            model_name='order',
            name='order_spent_by_token',
        ),
        migrations.AddField(
            model_name='journal',
            name='vendor',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='vendor_journals', to='wallet.ledgeraccount'),
        ),
        migrations.AddField(
            model_name='journal',
            name='vendor_net_minor',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='journal',
            name='wallet',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='wallet_journals', to='wallet.ledgeraccount'),
        ),
        migrations.AddField(
            model_name='journal',
            name='wallet_balance_minor',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='journal',
            name='wallet_entry',
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='journal',
            name='wallet_net_minor',
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='ledgeraccount',
            name='entries',
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='order',
            name='license_name',
            field=models.CharField(default='', max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='order',
            name='spender_id',
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='store_name',
            field=models.CharField(default='', max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='order',
            name='tax_rate_bp',
            field=models.PositiveIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='order',
            name='title',
            field=models.CharField(default='', max_length=120),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='quote',
            name='tax_rate_bp',
            field=models.PositiveIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='journal',
            name='order',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='journals', to='wallet.order'),
        ),
        migrations.AlterField(
            model_name='transfer',
            name='journal',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='wallet.journal'),
        ),
        migrations.RunPython(forget_seals, forget_seals),
        migrations.RunPython(tell_orders, migrations.RunPython.noop),
        migrations.RunPython(tell_quotes, migrations.RunPython.noop),
        migrations.RunPython(tell_journals, migrations.RunPython.noop),
        migrations.RunPython(guard, lift),
        migrations.AddIndex(
            model_name='journal',
            index=models.Index(condition=models.Q(('wallet__isnull', False)), fields=['wallet', 'at', 'id'], name='journal_of_wallet'),
        ),
        migrations.AddIndex(
            model_name='journal',
            index=models.Index(condition=models.Q(('vendor__isnull', False)), fields=['vendor', 'at', 'id'], name='journal_of_vendor'),
        ),
        migrations.AddIndex(
            model_name='order',
            index=models.Index(condition=models.Q(('spender_id__isnull', False), ('status', 'Completed')), fields=['buyer', 'spender_id', 'currency', 'created_at'], include=('price_minor',), name='order_spent_by_token'),
        ),
        migrations.AddConstraint(
            model_name='journal',
            constraint=models.UniqueConstraint(fields=('wallet', 'wallet_entry'), name='journal_wallet_entry_once'),
        ),
        migrations.AddConstraint(
            model_name='journal',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'payout'), ('wallet__isnull', True), ('wallet_balance_minor__isnull', True), ('wallet_entry__isnull', True), ('wallet_net_minor__isnull', True)), models.Q(models.Q(models.Q(('kind__in', ('funding', 'refund')), ('wallet_net_minor__gt', 0)), models.Q(('kind', 'sale'), ('wallet_net_minor__lt', 0)), _connector='OR'), ('wallet__isnull', False), ('wallet_balance_minor__gte', 0), ('wallet_balance_minor__isnull', False), ('wallet_entry__gte', 1), ('wallet_entry__isnull', False), ('wallet_net_minor__isnull', False)), _connector='OR'), name='journal_wallet_fits_kind'),
        ),
        migrations.AddConstraint(
            model_name='journal',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind__in', ('funding', 'sale', 'refund')), ('vendor__isnull', True), ('vendor_net_minor__isnull', True)), models.Q(models.Q(models.Q(('kind__in', ('payout', 'refund')), ('vendor_net_minor__lt', 0)), models.Q(('kind', 'sale'), ('vendor_net_minor__gt', 0)), _connector='OR'), ('vendor__isnull', False), ('vendor_net_minor__isnull', False)), _connector='OR'), name='journal_vendor_fits_kind'),
        ),
        migrations.AddConstraint(
            model_name='ledgeraccount',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'wallet'), ('may_go_negative', False)), models.Q(models.Q(('kind', 'wallet'), _negated=True), ('entries', 0), ('may_go_negative', True)), _connector='OR'), name='ledgeraccount_only_wallets_bounded'),
        ),
    ]
