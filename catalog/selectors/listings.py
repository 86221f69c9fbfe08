"""Listings as buyers see them: published, in an open store."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id

from ..file_types import MOTION_CATEGORY
from ..models import (
    Deliverable,
    FileFacts,
    FilePreview,
    Listing,
    ListingIndex,
    ListingStats,
    Preview,
    PurchaseCountChange,
    Store,
    StorePicture,
)
from ..models.files import DeliverableStatus
from ..models.listings import ListingStatus
from ..pricing import list_prices, with_running_discount
from .browse import CARD_COLUMNS, Row
from .taxonomy import TierTexts, tier_texts

SKILLS_CATEGORY = "ai-skills"
_SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{bounds.SLUG_CHARS}}}")


def listings_on_sale() -> QuerySet[Listing]:
    """Return the listings that buyers can see and buy."""
    return Listing.objects.filter(status=ListingStatus.PUBLISHED, store__is_open=True)


def is_free_for_all(listing: Listing) -> bool:
    """Tell whether everyone can have it for nothing at its price before the discount; a discount of 100 % does not count."""
    return 0 in list_prices(listing) and listing.tier_requirement == Tier.FREE


def skills_free_for_all() -> QuerySet[Listing]:
    """Return the listings on sale in the category of skills that are free for all (`is_free_for_all`) and whose file is a skill."""
    free = Q(base_price_minor=0) | Q(price_inr_minor=0) | Q(price_eur_minor=0)
    return listings_on_sale().filter(
        free,
        category__slug=SKILLS_CATEGORY,
        tier_requirement=Tier.FREE,
        approved_deliverable__technical__container="skill",
        approved_deliverable__blocked_at__isnull=True,
    )


def skill_contents(files: Iterable[Deliverable]) -> dict[str, dict[str, Any]]:
    """Return what the inspection recorded of each skill, `frontmatter` and `files`, by the SHA-256 of its file; in one query."""
    given = list(files)
    facts = FileFacts.objects.filter(listing__in={file.listing_id for file in given}, sha256__in={file.sha256 for file in given})
    return {sha256: content for sha256, content in facts.values_list("sha256", "facts__skill") if content}


def published_count(store: Store) -> int:
    """Return the number of published listings of a store, open or not."""
    return Listing.objects.filter(store=store, status=ListingStatus.PUBLISHED).count()


def purchase_count(listing: Listing) -> int:
    """Return the number of purchases that were not refunded, uncounted ones included."""
    counted = ListingStats.objects.filter(listing=listing).values_list("purchases", flat=True).first() or 0
    uncounted: int = PurchaseCountChange.objects.filter(listing=listing).aggregate(n=Coalesce(Sum("change"), 0))["n"]
    return counted + uncounted


def listing_on_sale(id_or_slug: str) -> Listing:
    """Return a listing with its current discount, store, category, approved deliverable and index row, in one query.

    Raises:
        NotFound: there is none, or it is not on sale now.
    """
    listings = with_running_discount(listings_on_sale().select_related("store", "category", "approved_deliverable", "index"))
    listing = listings.filter(**lookup(id_or_slug)).first()
    if listing is None:
        raise NotFound
    return listing


# Columns of the listing itself in `AssetDetail`, by the same names.
LISTING_FIELDS = (
    *("short_description", "description", "tags", "file_type", "supported_platforms", "version", "video_url", "updated_at"),
    *("ai_training", "ai_origin", "ai_parts"),
)
_DETAILS = ListingIndex.objects.values(
    *CARD_COLUMNS,
    *("popularity", "published_at", *(f"listing__{name}" for name in LISTING_FIELDS), "listing__tax_rate_bp"),
    *(f"listing__approved_deliverable__{name}" for name in ("file_size", "sha256", "technical", "version")),
)
_PREVIEWS: QuerySet[Any, Any] = Preview.objects.values("id", "listing_id", "kind", "slot", "alt_text")


class ListingDetail(NamedTuple):
    """The data of a detail page: columns of the index, the listing and its approved deliverable; previews and licence tiers."""

    row: Row
    previews: list[Row]
    tiers: TierTexts


def detail_on_sale(id_or_slug: str) -> ListingDetail:
    """Return the detail of a listing on sale, in three queries.

    Raises:
        NotFound: there is none, or it is not on sale now.
    """
    found = {name if name == "pk" else f"listing__{name}": value for name, value in lookup(id_or_slug).items()}
    # A constraint ensures that published listings have an approved deliverable.
    for row in _DETAILS.filter(**found):
        return ListingDetail(row, list(_PREVIEWS.filter(listing=row["listing_id"])), tier_texts())
    raise NotFound


def lookup(id_or_slug: str) -> dict[str, Any]:
    """Return the filter arguments for a listing's id or slug.

    Raises:
        NotFound: it can be neither.
    """
    if row_id := parse_id(id_or_slug):
        return {"pk": row_id}
    if _SLUG.fullmatch(id_or_slug):
        return {"slug": id_or_slug}
    raise NotFound


def preview_by_id(preview_id: str) -> Preview | StorePicture:
    """Return a preview with its listing and store, or a store's picture, without a check of visibility, in one or two queries.

    Raises:
        NotFound: there is none.
    """
    row_id = parse_id(preview_id)
    if row_id is None:
        raise NotFound
    preview = Preview.objects.select_related("listing__store").filter(pk=row_id).first()
    found = preview or StorePicture.objects.select_related("store").filter(pk=row_id).first()
    if found is None:
        raise NotFound
    return found


def file_previews_of(listing: Listing) -> list[FilePreview]:
    """Return the previews of a listing's approved file, without a query if none are made of such a file.

    The listing was read with its category and its approved file.
    """
    file = listing.approved_deliverable
    if file is None or ("glyphCount" not in file.technical and listing.category.slug != MOTION_CATEGORY):
        return []
    return list(file.file_previews.all())


def approved_versions(listing: Listing) -> QuerySet[Deliverable]:
    """Return all approved files, latest approval first; blocked ones too (`blocked_at`)."""
    return Deliverable.objects.filter(listing=listing, approved_at__isnull=False).order_by("-approved_at", "-id")


def deliverable_of_version(listing: Listing, version: str) -> Deliverable | None:
    """Return the approved file with this version or this id; None if there is none.

    It may be blocked: check `blocked_at` before serving it.
    """
    if not version:
        return None
    # Versions are shorter than ids.
    file_id = parse_id(version)
    return approved_versions(listing).filter(**({"version": version} if file_id is None else {"pk": file_id})).first()


def version_of_file(file: Deliverable, listing: Listing) -> str:
    """Return the version of a file; if that on sale or the next one has none, that of the listing, which may be for the next file already."""
    is_earlier = file.approved_at is not None and file.pk != listing.approved_deliverable_id
    return file.version or ("" if is_earlier else listing.version)


class SkillRequests(NamedTuple):
    """What a skill asks for."""

    tools: list[str]
    # By host, the first files that name it.
    hosts: dict[str, list[str]]
    # By path, what shows that the file is a script.
    scripts: dict[str, list[str]]


def requests_of_skill(file: Deliverable) -> SkillRequests | None:
    """Return the tools, hosts and scripts of the skill in a file, None if they were not recorded; in one query."""
    facts = FileFacts.objects.filter(listing=file.listing_id, sha256=file.sha256)
    # Only these of the facts, which may take megabytes.
    for tools, hosts, scripts in facts.values_list("facts__tools", "facts__hosts", "facts__scripts"):
        return SkillRequests(tools or [], dict(sorted((hosts or {}).items())), dict(sorted((scripts or {}).items())))
    return None


def deliverable_status(deliverable: Deliverable, listing: Listing) -> DeliverableStatus:
    """Return the status of one of the listing's files."""
    if deliverable.blocked_at is not None:
        return DeliverableStatus.BLOCKED
    if deliverable.pk == listing.approved_deliverable_id:
        return DeliverableStatus.LIVE
    if deliverable.pk == listing.candidate_deliverable_id:
        return DeliverableStatus.CANDIDATE
    return DeliverableStatus.SUPERSEDED
