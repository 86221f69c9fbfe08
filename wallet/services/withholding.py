"""Vendors' shares of purchases whose payment is disputed or refunded: withheld at first, released or taken when that has ended."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from marketplace.accounts.models import MailTopic
from marketplace.ui.mail import mail

from ..models import Journal, LedgerAccount, ReversalPart
from ..models.ledger import AccountKind, JournalKind
from ..selectors import unpaid_earnings
from .ledger import set_aside


def lock_vendor_accounts(account_ids: Any) -> list[LedgerAccount]:
    """Return vendors' accounts, locked in the order of their ids, in which `digests` updates them, and before those of withheld shares, to avoid deadlocks."""
    return list(LedgerAccount.objects.filter(pk__in=account_ids).select_for_update(no_key=True).order_by("pk"))


def withhold_shares(*, suspended: Sequence[tuple[Journal, ReversalPart]]) -> None:
    """Withhold the vendors' shares of suspended purchases, each given with its sale, from earnings that are not paid out.

    Journal and amount are set on the parts, which the caller saves.
    """
    accounts = lock_vendor_accounts({sale.vendor_id for sale, _ in suspended if sale.vendor_id is not None})
    # Accounts of withheld shares are changed in the order of their owners.
    for account in sorted(accounts, key=attrgetter("owner_id")):
        unpaid = unpaid_before = max(unpaid_earnings(account.pk), 0)
        own = [(sale, part) for sale, part in suspended if sale.vendor_id == account.pk]
        for sale, part in own:
            part.withheld_minor = min(sale.vendor_net_minor or 0, unpaid)
            unpaid -= part.withheld_minor
        if unpaid < unpaid_before:
            journal_id = set_aside(
                account=account,
                kind=AccountKind.WITHHELD,
                amount_minor=unpaid_before - unpaid,
                journal_kind=JournalKind.WITHHOLD,
                reason="the buyer's payment is disputed or refunded",
            )
            for _, part in own:
                part.withholding_journal_id = journal_id if part.withheld_minor else None


def release_shares(*, parts: Iterable[ReversalPart]) -> None:
    """Release to the vendors what was withheld and not taken."""
    parts_of = by_vendor_account(parts)
    for account in sorted(parts_of, key=attrgetter("owner_id")):
        own_parts = parts_of[account]
        rest = sum(part.withheld_minor - part.taken_minor for part in own_parts)
        released_id = None
        if rest:
            released_id = set_aside(
                account=account,
                kind=AccountKind.WITHHELD,
                amount_minor=-rest,
                journal_kind=JournalKind.RELEASE,
                reason="the dispute or refund of the buyer's payment ended",
            )
        for part in own_parts:
            part.release_journal_id = released_id
            part.save(update_fields=["release_journal", "taken_minor"])


def tell_withheld(*, parts: Iterable[ReversalPart]) -> None:
    """Tell the vendors how much is withheld."""
    for account, own_parts in by_vendor_account(parts).items():
        withheld = sum(part.withheld_minor for part in own_parts)
        _tell(account, "wallet/share_withheld", topic=MailTopic.SALE, amount_minor=withheld)


def tell_outcome(*, parts: Iterable[ReversalPart], withheld_again: Iterable[ReversalPart], vendors_told: bool) -> None:
    """Tell the vendors how much was taken, and how much was released and not withheld again by another dispute.

    Args:
        parts: The parts of reversals whose withheld shares were released.
        withheld_again: The parts whose shares another dispute has withheld since.
        vendors_told: Whether the vendors were told that the shares were withheld.
    """
    before, after = by_vendor_account(parts), by_vendor_account(withheld_again)
    for account in {**before, **after}:
        own_parts = before.get(account, [])
        taken = sum(part.taken_minor for part in own_parts)
        withheld = sum(part.withheld_minor for part in own_parts) - taken if vendors_told else 0
        change = sum(part.withheld_minor for part in after.get(account, [])) - withheld
        if taken or change < 0:
            _tell(account, "wallet/share_decided", topic=MailTopic.SALE, released_minor=max(-change, 0), taken_minor=taken)
        if change > 0:
            _tell(account, "wallet/share_withheld", topic=MailTopic.SALE, amount_minor=change)


def by_vendor_account(parts: Iterable[ReversalPart]) -> dict[LedgerAccount, list[ReversalPart]]:
    """Return the parts for which something was withheld, by the accounts of their vendors."""
    found: defaultdict[LedgerAccount, list[ReversalPart]] = defaultdict(list)
    for part in parts:
        if part.withholding_journal is not None and part.withholding_journal.vendor is not None:
            found[part.withholding_journal.vendor].append(part)
    return found


def _tell(account: LedgerAccount, template: str, *, topic: MailTopic, **amounts: int) -> None:
    if account.owner is not None and account.owner.is_active:
        mail(account.owner, template, topic=topic, currency=account.currency, **amounts)
