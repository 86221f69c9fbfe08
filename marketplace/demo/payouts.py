"""The demo vendor's bank accounts, sales and payout."""

from datetime import timedelta

from django.db.models import F

from marketplace.accounts.models import User
from vendors.bounds import PAYOUT_WAIT
from vendors.models import PayoutDetails, VendorProfile
from vendors.selectors import payout_details_of
from vendors.services.payout_details import change_payout_details
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.models import VendorPayout
from wallet.selectors import vendor_accounts
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend
from wallet.services.vendor_payouts import export_batch, mark_batch_paid, open_batch, prepare_payout

from .entries import listings_to_buy

RUN = "demo-1"
# Published test accounts.
ACCOUNTS = {"USD": ("NO9386011117947", "DNBANOKK"), "INR": ("000123456789", "SBIN0000300")}


def make_payout(profile: VendorProfile, customer: User, admin: User) -> None:
    """Give the vendor bank accounts, a sale that is paid out, and one that waits for its payout, unless they exist."""
    for currency in ACCOUNTS.keys() - payout_details_of(profile).keys():
        number, bank = ACCOUNTS[currency]
        holder = profile.user.get_short_name()
        change_payout_details(
            profile=profile, currency=currency, holder=holder, number=number, bank=bank, actor=profile.user, password_confirmed=True
        )
        # Payouts wait after a change of the bank account: date it before that.
        PayoutDetails.objects.filter(profile=profile, currency=currency).update(
            created_at=F("created_at") - PAYOUT_WAIT - timedelta(hours=1)
        )
    if VendorPayout.objects.filter(account__owner=profile.user_id).exists():
        return
    cheapest = listings_to_buy(customer).filter(store=profile.store_id).order_by("price_inr_minor")[:2]
    for index, listing in enumerate(cheapest):
        spend(buyer=customer, purchase=PurchaseRequest(listing.slug, "INR"), delivery_consent=IMMEDIATE_DELIVERY)
        if index == 0:
            batch = open_batch(run=RUN, currency="INR", actor=admin)
            account = vendor_accounts(currency="INR").get(owner=profile.user_id)
            prepare_payout(account=account, batch=batch, minimum_minor=1, actor=admin)
            export_batch(batch=batch, actor=admin)
            mark_batch_paid(batch=batch, actor=admin)
