"""Shortcuts for a listing on sale, and for a purchase of one."""

import hashlib
import io
import zipfile
import zlib
from decimal import Decimal
from typing import Any

from catalog.models import LicenseTerms, LicenseTier, Listing, Store
from marketplace.accounts.models import User
from marketplace.storage import default_storage
from wallet.models import Order
from wallet.services.funding import credit_wallet
from wallet.services.offers import PurchaseRequest
from wallet.services.spending import spend

from .factories import PublishedListingFactory, UserFactory
from .vendors.cases import make_vendor


def archive(text: str = "glyphs") -> bytes:
    """Return a small zip, as a vendor would upload it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        # Of a fixed date, so that the same text is the same bytes a second later.
        file.writestr(zipfile.ZipInfo("fonts/a.otf"), text * 500, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tiers() -> list[LicenseTier]:
    """Return the three seeded tiers, made again where a flush took them."""
    factors = {"personal": 1, "commercial": 2, "extended": 5}
    made = [
        LicenseTier.objects.get_or_create(
            slug=slug,
            defaults={"name": slug.title(), "summary": slug, "price_factor": Decimal(factor), "sort_order": factor},
        )
        for slug, factor in factors.items()
    ]
    for tier, is_new in made:
        if is_new:
            LicenseTerms.objects.create(tier=tier, version=1, name=tier.name, text=f"Terms: {tier.slug}.")
    return [tier for tier, _ in made]


def on_sale(content: bytes | None = None, **fields: Any) -> Listing:
    """Return a published listing with tiers to buy; with `content` its file is really stored."""
    tiers()
    listing: Listing = PublishedListingFactory(**{"base_price_minor": 1000, "price_inr_minor": 49_900, **fields})
    if content is not None:
        store_file(listing, content)
    return listing


def store_keeping(commission_rate_bp: int) -> Store:
    """Return an open store of whose sales the platform keeps this share, in basis points."""
    profile = make_vendor()
    profile.commission_rate_bp = commission_rate_bp
    profile.save()
    return profile.store


def store_file(listing: Listing, content: bytes) -> None:
    """Store bytes as the listing's reviewed file."""
    deliverable = listing.approved_deliverable
    assert deliverable is not None
    deliverable.object_key = f"deliverables/{deliverable.id}"
    deliverable.file_size = len(content)
    deliverable.sha256 = hashlib.sha256(content).hexdigest()
    deliverable.crc32 = zlib.crc32(content)
    deliverable.save()
    default_storage.save_bytes(deliverable.object_key, content)


def funded(inr: int = 0, usd: int = 0, **fields: Any) -> User:
    """Return a user whose wallet holds these minor units."""
    user: User = UserFactory(**fields)
    for currency, amount in (("INR", inr), ("USD", usd)):
        if amount:
            credit_wallet(user=user, currency=currency, amount_minor=amount, reason="test", actor=None)
    return user


def bought(listing: Listing, buyer: User | None = None, **choices: Any) -> Order:
    buyer = buyer or funded(inr=1_000_000)
    receipt, _ = spend(buyer=buyer, purchase=PurchaseRequest(str(listing.id), **choices))
    return Order.objects.get(pk=receipt.order_id)
