"""Publishes the demo catalog the way vendors and reviewers do: upload, checks, submission, approval."""

import hashlib
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from catalog.models import Category, FeaturedListing, Listing
from catalog.models.files import PreviewKind
from catalog.models.listings import ListingStatus
from catalog.models.reviews import ListingReview, ReviewStatus
from catalog.services.featured import save_featured_listing
from catalog.services.review import approve_listing, reject_listing
from marketplace.accounts.models import Tier
from marketplace.storage import default_storage
from vendors.inspection import Inspection, inspect_deliverable
from vendors.models import VendorProfile
from vendors.previews import ProcessedPreview, process_preview
from vendors.services.discounts import add_discount
from vendors.services.file_previews import attach_file_previews
from vendors.services.files import attach_deliverable, attach_preview, new_deliverable_key
from vendors.services.listings import ListingFields, create_listing
from vendors.services.pictures import update_picture
from vendors.services.submission import check_and_submit
from vendors.uploads.receiving import Received

from .clock import clock_at
from .entries import VERSION, CatalogEntry
from .history import DAYS
from .people import People
from .previews import load_previews

README = "Thank you for buying {title}.\n\nUnpack the file beside this one. What you may do with it is in LICENSE.txt.\n"
SALE_LASTS = timedelta(days=60)
# The featured listings of the start page, in their order.
FEATURED = ("fraunces", "weather-in-motion", "dusty-swing-loops", "contrast-auditor")
# Files are inspected while rows are written.
THREADS = 2


@dataclass(frozen=True)
class Prepared:
    """An entry with its files stored and inspected."""

    entry: CatalogEntry
    received: Received
    inspection: Inspection
    previews: list[tuple[PreviewKind, int, ProcessedPreview]]


def fill_shop(entries: list[CatalogEntry], people: People, *, until: datetime) -> Iterator[CatalogEntry]:
    """Submit each entry, publish those that do not stay in review, and yield it; existing listings are left alone.

    The entries are submitted one after another in the days before `until`.
    """
    submitted = Listing.objects.filter(slug__in=[entry.slug for entry in entries]).exclude(status=ListingStatus.DRAFT)
    existing = set(submitted.values_list("slug", flat=True))
    missing = [entry for entry in entries if entry.slug not in existing]
    yield from (entry for entry in entries if entry.slug in existing)
    with ThreadPoolExecutor(THREADS) as pool:
        for prepared in pool.map(_prepare, missing):
            number = entries.index(prepared.entry) + 1
            day = until - timedelta(days=DAYS) * (1 - number / len(entries))
            _publish(prepared, people, day - timedelta(hours=3 + 5 * (number % 4)))
            yield prepared.entry


def feature_listings(people: People) -> None:
    """Choose the featured listings of the start page, unless there are any."""
    if FeaturedListing.objects.exists():
        return
    for position, slug in enumerate(FEATURED, start=1):
        featured = FeaturedListing(listing=Listing.objects.get(slug=slug), position=position)
        save_featured_listing(featured=featured, changed=["listing", "position"], actor=people.admin)


def _prepare(entry: CatalogEntry) -> Prepared:
    """Store and inspect an entry's files like an upload, without writing rows."""
    files = [(PreviewKind.GALLERY, slot, f"{slot}.webp") for slot in range(len(entry.pictures))]
    files += [(PreviewKind.FONT_SPECIMEN, 0, "specimen.woff2"), (PreviewKind.AUDIO_PREVIEW, 0, "preview.mp3")]
    previews = [
        (kind, slot, process_preview(kind, (entry.folder / name).read_bytes()))
        for kind, slot, name in files
        if (entry.folder / name).exists()
    ]
    received = _store(entry.deliverable)
    inspection = inspect_deliverable(storage=received.storage, key=received.key, size=received.size)
    return Prepared(entry, received, inspection, previews)


def _store(file: Path) -> Received:
    key, content = new_deliverable_key(), file.read_bytes()
    default_storage.save_bytes(key, content)
    digest = hashlib.sha256(content).hexdigest()
    return Received(default_storage, key, file.name, len(content), digest, zlib.crc32(content))


def _publish(prepared: Prepared, people: People, moment: datetime) -> None:
    """Upload and submit the entry, and let the reviewer decide hours later; what has a finding is submitted twice."""
    entry = prepared.entry
    profile = people.profiles[entry.store]
    with clock_at(moment):
        with prepared.received as received:
            listing = _draft(prepared, profile)
            Listing.objects.filter(pk=listing.pk).update(created_at=moment - timedelta(days=1))
            attach_deliverable(listing=listing, received=received, inspection=prepared.inspection, actor=profile.user)
        for kind, slot, processed in prepared.previews:
            preview = attach_preview(listing=listing, kind=kind, slot=slot, processed=processed, actor=profile.user)
            if kind == PreviewKind.GALLERY:
                update_picture(listing=listing, preview_id=preview.pk, actor=profile.user, alt_text=entry.pictures[slot])
    if entry.sale and not listing.discounts.exists():
        add_discount(listing=listing, percent=entry.sale, ends_at=timezone.now() + SALE_LASTS, actor=profile.user)
    if entry.finding:
        _submit(listing, profile, moment - timedelta(hours=9))
        with clock_at(moment - timedelta(hours=4)):
            findings = [{"code": "other", "field": "description", "message": entry.finding}]
            reject_listing(review=_pending_review(listing), findings=findings, actor=people.admin)
    _submit(listing, profile, moment)
    if not entry.waiting:
        hours = 2 + len(entry.slug) % 5
        with clock_at(moment + timedelta(hours=hours, minutes=7 * hours)):
            approve_listing(review=_pending_review(listing), actor=people.admin, tier_requirement=Tier(entry.tier))
        listing.refresh_from_db()
        if listing.approved_deliverable is not None:
            attach_file_previews(deliverable=listing.approved_deliverable, made=load_previews(entry))


def _submit(listing: Listing, profile: VendorProfile, moment: datetime) -> None:
    listing.refresh_from_db()
    with clock_at(moment):
        check_and_submit(listing=listing, actor=profile.user)


def _pending_review(listing: Listing) -> ListingReview:
    return listing.reviews.get(status=ReviewStatus.PENDING)


def _draft(prepared: Prepared, profile: VendorProfile) -> Listing:
    """Return the entry's draft, the one of an interrupted run if there is one."""
    entry = prepared.entry
    listing = Listing.objects.filter(slug=entry.slug).first()
    if listing is not None:
        return listing
    platforms = entry.kind.platforms
    fields: ListingFields = {
        "slug": entry.slug,
        "title": entry.title,
        "short_description": entry.summary,
        "description": entry.description,
        "category": Category.objects.get(slug=entry.kind.category),
        "tags": entry.tags,
        "base_price_minor": entry.price_minor("USD"),
        "price_inr_minor": entry.price_minor("INR"),
        "price_eur_minor": entry.price_minor("EUR"),
        "discount_bp": entry.discount * 100,
        "file_type": prepared.inspection.format,
        "supported_platforms": platforms[:1].upper() + platforms[1:],
        "version": VERSION,
        "ai_training": entry.ai_training,
        "ai_origin": entry.ai_origin,
        "ai_parts": entry.ai_parts,
        "readme": README.format(title=entry.title),
    }
    return create_listing(profile=profile, actor=profile.user, **fields)
