"""The demo vendor's bank accounts, sales and payout."""

from datetime import timedelta

from django.db.models import F

from catalog.models import Listing
from catalog.models.listings import ListingStatus
from library.models import Licence
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
    for index, slug in enumerate(_for_sale(profile, customer)):
        spend(buyer=customer, purchase=PurchaseRequest(slug, "INR"), consent=IMMEDIATE_DELIVERY)
        if index == 0:
            batch = open_batch(run=RUN, currency="INR", actor=admin)
            account = vendor_accounts(currency="INR").get(owner=profile.user_id)
            prepare_payout(account=account, batch=batch, minimum_minor=1, actor=admin)
            export_batch(batch=batch, actor=admin)
            mark_batch_paid(batch=batch, actor=admin)


def _for_sale(profile: VendorProfile, customer: User) -> list[str]:
    """Return the slugs of the two cheapest priced listings that the customer can buy."""
    owned = Licence.objects.filter(holder=customer).values("listing")
    rows = Listing.objects.filter(store=profile.store_id, status=ListingStatus.PUBLISHED, price_inr_minor__gt=0, tier_requirement="free")
    return list(rows.exclude(pk__in=owned).order_by("price_inr_minor").values_list("slug", flat=True)[:2])
