"""Conditions that prevent the deletion of an account: money, and listings on sale."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from marketplace.ui.formatting import money
from wallet.card_credit import card_credit, open_card_payments_of
from wallet.models import LedgerAccount
from wallet.models.ledger import AccountKind
from wallet.models.top_ups import ReversalKind
from wallet.models.vendor_payouts import PayoutStatus
from wallet.selectors import open_wallet_payouts_of, owed_by, vendor_payouts, with_earnings


@dataclass(frozen=True)
class DeletionBlocker:
    """A reason why an account cannot be deleted yet."""

    # The reason, and what to do about it.
    message: str
    # The URL name of the page where it is resolved, and the text of the link to it.
    page: str
    link: str


def deletion_blockers(user_id: uuid.UUID) -> list[DeletionBlocker]:
    """Return the reasons why the account cannot be deleted yet: money, and listings on sale."""
    on_sale = DeletionBlocker("Some listings are on sale or in review: unpublish or withdraw them first.", "studio", "Go to the listings")
    open_listings = Listing.objects.filter(store__owner=user_id).exclude(status__in=(ListingStatus.DRAFT, ListingStatus.REJECTED))
    listing_blockers = [on_sale] if open_listings.exists() else []
    return [*_balance_blockers(user_id), *_payout_blockers(user_id), *_top_up_blockers(user_id), *listing_blockers]


def _balance_blockers(user_id: uuid.UUID) -> Iterator[DeletionBlocker]:
    # Includes earnings since the last ledger digest.
    for account in with_earnings(LedgerAccount.objects.filter(owner=user_id)).order_by("-kind", "currency"):
        if account.kind == AccountKind.WALLET and account.balance_minor:
            balance = money(account.balance_minor, account.currency)
            if card_credit(account):
                message = (
                    f"The wallet holds {balance}, part of which was paid by card: spend it, or ask us to return that part to the card."
                )
                yield DeletionBlocker(message, "wallet-page", "See the wallet")
            else:
                yield DeletionBlocker(f"The wallet holds {balance}: have it paid out first.", "wallet-payout-new", "Have it paid out")
        elif account.kind == AccountKind.WITHHELD and account.balance_minor:
            withheld = money(account.balance_minor, account.currency)
            message = (
                f"{withheld} of the vendor's earnings is withheld while card payments are disputed: wait until the disputes have ended."
            )
            yield DeletionBlocker(message, "sales-statement", "See the statement")
        elif account.kind == AccountKind.RECEIVABLE and account.currency in (debts := owed_by(user_id)):
            debt = money(debts[account.currency], account.currency)
            message = f"You owe {debt} for a card payment that was returned: add credit to pay it, or write to us."
            yield DeletionBlocker(message, "wallet-page", "See the wallet")
        elif account.kind == AccountKind.VENDOR and account.unpaid_minor > 0:
            earned = money(account.unpaid_minor, account.currency)
            yield DeletionBlocker(
                f"The vendor account holds {earned}: it must be paid in a payout run first.", "payouts", "See the payouts"
            )
        elif account.kind == AccountKind.VENDOR and account.unpaid_minor < 0:
            owed = money(-account.unpaid_minor, account.currency)
            yield DeletionBlocker(
                f"The vendor account owes {owed} after refunds: later sales must cover it first.", "sales-statement", "See the statement"
            )


def _payout_blockers(user_id: uuid.UUID) -> Iterator[DeletionBlocker]:
    for wallet_payout in open_wallet_payouts_of(user_id):
        due = money(wallet_payout.amount_minor, wallet_payout.currency)
        message = f"A payout of {due} from the wallet is under way: wait until it is paid, or cancel it while you can."
        yield DeletionBlocker(message, "wallet-page", "See the payout")
    for payout in vendor_payouts().filter(account__owner=user_id, status__in=(PayoutStatus.PREPARED, PayoutStatus.EXPORTED)):
        due = money(payout.amount_minor, payout.account.currency)
        yield DeletionBlocker(f"A payout of {due} is on its way to the vendor: wait until it is paid.", "payouts", "See the payouts")


def _top_up_blockers(user_id: uuid.UUID) -> Iterator[DeletionBlocker]:
    for top_up in open_card_payments_of(user_id):
        if top_up.reversal is None:
            asked = money(top_up.amount_minor, top_up.currency)
            message = f"A payment page for {asked} is open: wait until it closes."
        else:
            what = "disputed" if top_up.reversal == ReversalKind.DISPUTE else "on its way back to its card"
            amount = money(top_up.reversal_minor, top_up.currency)
            message = f"A card payment of {amount} is {what}: wait until that has ended."
        yield DeletionBlocker(message, "wallet-page", "See the wallet")
