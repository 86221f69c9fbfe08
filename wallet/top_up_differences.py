"""Checks that top-ups, disputes and refunds agree with the ledger, and with the lists of their providers. It only reads."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from library.models import Licence
from marketplace.core.database import subquery_sum
from marketplace.ui.formatting import money

from .models import CardReversal, Journal, LedgerAccount, Order, ProviderEvent, ReversalPart, TopUp, Transfer
from .models.ledger import AccountKind, JournalKind
from .models.orders import OrderStatus
from .models.top_ups import ReversalKind, ReversalStatus
from .providers import Provider
from .selectors import with_upgrades

# A payment close to midnight may be listed under the next day, or the day before.
MARGIN = dt.timedelta(hours=1)
_OPEN = Q(reversal__status=ReversalStatus.OPEN)


def top_up_differences() -> Iterator[str]:
    """Yield a sentence for each difference between top-ups, disputes, refunds and the ledger."""
    for top_up in _wrongly_credited().iterator():
        yield f"top-up {top_up.pk} and its credit differ"
    yield from _reversals()
    yield from _set_aside()
    yield from _shares()
    # An upgrade is suspended while the purchase that it upgraded is; if that was charged back, until the upgrade is refunded.
    suspended = set(ReversalPart.objects.filter(_OPEN, suspended=True).values_list("order", flat=True))
    suspended |= set(Order.objects.filter(status=OrderStatus.CHARGED_BACK, upgrades__isnull=False).values_list("pk", flat=True))
    standing = Order.objects.filter(pk__in=with_upgrades(suspended), status=OrderStatus.COMPLETED)
    licences = Licence.objects.filter(suspended_at__isnull=False, revoked_at__isnull=True)
    for order in set(standing.values_list("pk", flat=True)) ^ set(licences.values_list("order_id", flat=True)):
        yield f"order {order} is disputed and its licence not suspended, or the other way round"


def provider_differences(provider: Provider, day: dt.date) -> Iterator[str]:
    """Yield a sentence for each difference between a provider's list of a day (UTC) and the ledger.

    Raises:
        PaymentProviderUnavailable: the provider does not answer.
    """
    start = dt.datetime.combine(day, dt.time(), dt.UTC)
    listed = {payment.payment: payment for payment in provider.payments_of(day)}
    known = TopUp.objects.filter(provider=provider.name, payment_reference__in=listed, journal__isnull=False)
    credited = {top_up.payment_reference: top_up for top_up in known}
    for reference, payment in sorted(listed.items()):
        top_up = credited.get(reference)
        paid = money(payment.amount_minor, payment.currency)
        if top_up is None:
            yield f"{provider.name} lists {reference}, {paid}; it was not credited"
        elif (top_up.amount_minor, top_up.currency) != (payment.amount_minor, payment.currency):
            yield f"{provider.name} lists {reference}, {paid}; top-up {top_up.pk} credited {money(top_up.amount_minor, top_up.currency)}"
    inside = Q(paid_at__gte=start + MARGIN, paid_at__lt=start + dt.timedelta(days=1) - MARGIN)
    unlisted = TopUp.objects.filter(inside, provider=provider.name).exclude(payment_reference__in=listed)
    for top_up in unlisted.order_by("pk"):
        yield f"top-up {top_up.pk} credited {money(top_up.amount_minor, top_up.currency)} for {top_up.payment_reference}, which {provider.name} does not list"
    yield from _reversal_differences(provider, day, start)
    for event in _events_of_day(start).filter(provider=provider.name, outcome__startswith="refused"):
        yield f"event {event.event_id} of {provider.name} for top-up {event.top_up_id} was {event.outcome}"
    for event in _events_of_day(start).filter(provider=provider.name, processed_at__isnull=True):
        paid_for = TopUp.objects.filter(provider=provider.name, payment_reference=event.payment_reference, journal__isnull=False)
        until = "another dispute or refund of the payment has not ended" if paid_for.exists() else "the payment was not credited"
        yield f"event {event.event_id} of {provider.name} for payment {event.payment_reference} waits: {until}"


def _reversal_differences(provider: Provider, day: dt.date, start: dt.datetime) -> Iterator[str]:
    """Compare a provider's disputes and refunds that began on a day with ours, of the payments that were credited."""
    listed = {reversal.reference: reversal for reversal in provider.reversals_of(day)}
    payments = {reversal.payment for reversal in listed.values()}
    top_ups = TopUp.objects.filter(provider=provider.name, payment_reference__in=payments, journal__isnull=False)
    credited = set(top_ups.values_list("payment_reference", flat=True))
    ours = CardReversal.objects.filter(top_up__provider=provider.name, reference__in=listed).select_related("top_up")
    known = {(reversal.top_up.payment_reference, reversal.reference): reversal for reversal in ours}
    for reference, there in sorted(listed.items()):
        if there.payment not in credited:
            continue
        here, amount = known.get((there.payment, reference)), money(there.amount_minor, there.currency)
        what = f"{provider.name} lists {reference} of {there.payment}, {amount}, {there.status.lower()}"
        if here is None:
            # One that took nothing in the end need not be known.
            if there.status != ReversalStatus.PAYMENT_KEPT:
                yield f"{what}; nothing of it is in the ledger"
        elif (here.amount_minor, here.top_up.currency, here.status) != (there.amount_minor, there.currency, there.status):
            yield f"{what}; in the ledger it is {money(here.amount_minor, here.top_up.currency)}, {here.status.lower()}"
    after, before = start + MARGIN, start + dt.timedelta(days=1) - MARGIN
    refunds = CardReversal.objects.filter(
        top_up__provider=provider.name, kind=ReversalKind.REFUND, opened_at__gte=after, opened_at__lt=before
    )
    for refund in refunds.exclude(status=ReversalStatus.PAYMENT_KEPT).exclude(reference__in=listed).select_related("top_up").order_by("pk"):
        amount = money(refund.amount_minor, refund.top_up.currency)
        yield f"refund {refund.reference or refund.pk} of {refund.top_up.payment_reference}, {amount}, is not listed by {provider.name}"


def _events_of_day(start: dt.datetime) -> QuerySet[ProviderEvent]:
    return ProviderEvent.objects.filter(occurred_at__gte=start, occurred_at__lt=start + dt.timedelta(days=1)).order_by("pk")


def _wrongly_credited() -> QuerySet[TopUp]:
    fits = Q(
        journal__kind=JournalKind.FUNDING,
        journal__wallet__owner=F("user"),
        journal__wallet__currency=F("currency"),
        journal__wallet_net_minor=F("amount_minor"),
        journal__credit_reference__source=F("provider"),
        journal__credit_reference__reference=F("payment_reference"),
    )
    paid = TopUp.objects.filter(journal__isnull=False)
    return paid.filter(~Exists(paid.filter(fits, pk=OuterRef("pk"))))


def _reversals() -> Iterator[str]:
    """Compare what returned to cards with the transfers, and what was kept with what had been frozen."""
    to_funding = Transfer.objects.filter(journal=OuterRef("closing_journal"), credit__kind=AccountKind.FUNDING)
    moved = subquery_sum(to_funding, "amount_minor", by="journal")
    returned = Q(status=ReversalStatus.PAYMENT_RETURNED, closing_journal__kind=JournalKind.CARD_RETURN, moved=F("amount_minor"))
    kept = Q(status=ReversalStatus.PAYMENT_KEPT) & (Q(freeze_journal__isnull=True) | Q(closing_journal__undoes=F("freeze_journal")))
    fits = CardReversal.objects.annotate(moved=moved).filter(returned | kept | Q(status=ReversalStatus.OPEN))
    for reversal in CardReversal.objects.exclude(pk__in=fits.values("pk")).iterator():
        yield f"{reversal.kind} {reversal.pk} and its transfers differ"


def _set_aside() -> Iterator[str]:
    """Compare what is frozen and withheld with the open disputes and refunds."""
    reversals = CardReversal.objects.filter(
        status=ReversalStatus.OPEN, top_up__user=OuterRef("owner"), top_up__currency=OuterRef("currency")
    )
    frozen = subquery_sum(reversals, -F("freeze_journal__wallet_net_minor"), by="top_up__user")
    shares = ReversalPart.objects.filter(
        _OPEN, withholding_journal__vendor__owner=OuterRef("owner"), withholding_journal__vendor__currency=OuterRef("currency")
    )
    withheld = subquery_sum(shares, "withheld_minor", by="withholding_journal__vendor")
    for kind, due in ((AccountKind.FROZEN, frozen), (AccountKind.WITHHELD, withheld)):
        accounts = LedgerAccount.objects.filter(kind=kind).annotate(due=due)
        for account in accounts.exclude(balance_minor=F("due")).iterator():
            holds, expected = (money(amount, account.currency) for amount in (account.balance_minor, account.due))
            yield f"{kind} account {account.pk} holds {holds}, what is disputed or refunded is {expected}"


def _shares() -> Iterator[str]:
    """Compare what was withheld of vendors' shares, and released, with the journals."""
    withheld_parts = ReversalPart.objects.filter(withholding_journal=OuterRef("pk"))
    recorded = subquery_sum(withheld_parts, "withheld_minor", by="withholding_journal")
    withholds = Journal.objects.filter(kind=JournalKind.WITHHOLD).annotate(recorded=recorded)
    for journal in withholds.exclude(vendor_net_minor=-F("recorded")).iterator():
        yield f"journal {journal.pk} withholds another amount than its purchases add up to"
    released_parts = ReversalPart.objects.filter(release_journal=OuterRef("pk"))
    rest = subquery_sum(released_parts, F("withheld_minor") - F("taken_minor"), by="release_journal")
    for release in Journal.objects.filter(kind=JournalKind.RELEASE).annotate(rest=rest).exclude(vendor_net_minor=F("rest")).iterator():
        yield f"journal {release.pk} releases another amount than its purchases add up to"
    unreleased = ReversalPart.objects.exclude(_OPEN).filter(release_journal__isnull=True, withheld_minor__gt=F("taken_minor"))
    for disputed in unreleased.iterator():
        yield f"order {disputed.order_id}: a share is withheld for a dispute or refund that has ended"
