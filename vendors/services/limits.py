"""What a vendor may keep that no reviewer has approved: drafts, and the bytes of files, previews and unfinished uploads."""

from django.conf import settings

from catalog.models import Listing, Store
from marketplace.core.bounds import GIB

from ..errors import UnapprovedStorageFull, VendorNotApproved
from ..models import Upload, VendorProfile, VendorStatus
from ..selectors import unapproved_bytes


def lock_vendor(store: Store) -> None:
    """Lock the vendor's profile until the end of the transaction, so that changes that count towards a limit happen one at a time.

    Lock in this order: the listing, the profile, the upload. Whoever holds the profile's lock never waits for a listing, so a suspension never
    waits behind a request that holds one.

    Raises:
        VendorNotApproved: the vendor was suspended in the meantime.
    """
    profile = VendorProfile.objects.select_for_update(of=("self",), no_key=True).filter(store=store).first()
    if profile is not None and profile.status != VendorStatus.APPROVED:
        raise VendorNotApproved(vendorStatus=profile.status)


def check_room(listing: Listing, *, adding: int, replacing: int = 0, upload: Upload | None = None) -> None:
    """Refuse further bytes that no reviewer has approved. The bytes that they replace do not count, nor does the `upload` that they come from.

    Raises:
        UnapprovedStorageFull: the vendor would have more than `settings.VENDOR_UNAPPROVED_GIB` GiB of them.
    """
    used, maximum = unapproved_bytes(listing.store, without=upload), settings.VENDOR_UNAPPROVED_GIB * GIB
    if used - replacing + adding > maximum:
        raise UnapprovedStorageFull(maximumBytes=maximum, usedBytes=used)
