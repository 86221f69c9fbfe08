"""Inspects stored deliverables again, after the inspector has changed, and updates their technical details.

Only the details change, never the file. A manifest generated from the old details becomes stale, since its sources are
part of its digest; it is generated again when the vendor asks for it or the listing is approved.
"""

import uuid
from enum import StrEnum
from typing import Any, NamedTuple

from django.db import transaction

from catalog.catalog_version import change_version
from catalog.manifests.sources import digest_of, sources_of
from catalog.models import AgentManifest, Deliverable, Listing
from catalog.selectors.listings import lookup
from catalog.selectors.reviews import facts_of_files
from catalog.selectors.taxonomy import active_tiers
from catalog.services.visibility import listing_edited
from marketplace.core import audit
from marketplace.core.errors import DependencyUnavailable, UnsupportedType
from marketplace.storage import default_storage

from ..errors import FileRejected
from ..inspection import Inspection, inspect_deliverable
from .files import record_facts


class ReinspectOutcome(StrEnum):
    """The outcome of inspecting a file again."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    # Removed, or inspected by another run, in the meantime.
    OVERTAKEN = "overtaken"
    REFUSED = "refused"
    MISSING = "missing"
    UNREADABLE = "unreadable"


FAILURES = frozenset({ReinspectOutcome.REFUSED, ReinspectOutcome.MISSING, ReinspectOutcome.UNREADABLE})


class Reinspected(NamedTuple):
    """The result for one file: the outcome, what differs or why it failed, and whether the manifest has become stale."""

    outcome: ReinspectOutcome
    detail: str = ""
    stale_manifest: bool = False


def find_deliverable_ids(*, formats: list[str], listing: str | None) -> list[uuid.UUID]:
    """Return the ids of files, oldest first: of these formats, and of the listing with this id or slug; all by default."""
    found = Deliverable.objects.order_by("id")
    if formats:
        found = found.filter(format__in=formats)
    if listing is not None:
        found = found.filter(listing__in=Listing.objects.filter(**lookup(listing)))
    return list(found.values_list("pk", flat=True))


def reinspect(*, deliverable_id: Any, dry_run: bool) -> Reinspected:
    """Inspect a stored file and save the details where they differ. A file that is refused now keeps its old details."""
    deliverable = Deliverable.objects.select_related("listing").filter(pk=deliverable_id).first()
    if deliverable is None:
        return Reinspected(ReinspectOutcome.OVERTAKEN)
    try:
        inspection = inspect_deliverable(storage=default_storage, key=deliverable.object_key, size=deliverable.file_size)
    except (FileRejected, UnsupportedType) as refusal:
        return Reinspected(ReinspectOutcome.REFUSED, refusal.message)
    except FileNotFoundError:
        gone = not Deliverable.objects.filter(pk=deliverable_id).exists()
        return (
            Reinspected(ReinspectOutcome.OVERTAKEN) if gone else Reinspected(ReinspectOutcome.MISSING, "Nothing is stored under its key.")
        )
    except DependencyUnavailable as problem:
        return Reinspected(ReinspectOutcome.UNREADABLE, problem.message)
    facts = facts_of_files(deliverable.listing, deliverable.sha256).get(deliverable.sha256)
    same = (inspection.format, inspection.technical, list(inspection.entries)) == _recorded_details(deliverable)
    if same and facts == inspection.facts:
        return Reinspected(ReinspectOutcome.UNCHANGED)
    what = "the facts by which versions are compared" if same else "the list of its entries"
    detail = differences(deliverable.technical, inspection.technical) or what
    return Reinspected(ReinspectOutcome.CHANGED, detail) if dry_run else _record(deliverable, inspection, detail)


def differences(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Describe which fields were added, removed and changed."""
    differing = {
        "new": sorted(after.keys() - before.keys()),
        "gone": sorted(before.keys() - after.keys()),
        "changed": sorted(name for name in before.keys() & after.keys() if before[name] != after[name]),
    }
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in differing.items() if names)


def _recorded_details(deliverable: Deliverable) -> tuple[str, dict[str, Any], list[Any]]:
    return deliverable.format, deliverable.technical, deliverable.entries


@transaction.atomic
def _record(seen: Deliverable, inspection: Inspection, detail: str) -> Reinspected:
    # Loaded without its files: `_manifest_is_stale` fetches them after the save below.
    listing = Listing.objects.select_for_update(no_key=True).filter(pk=seen.listing_id).first()
    deliverable = Deliverable.objects.filter(pk=seen.pk).first()
    if listing is None or deliverable is None or _recorded_details(deliverable) != _recorded_details(seen):
        return Reinspected(ReinspectOutcome.OVERTAKEN)
    deliverable.format, deliverable.technical, deliverable.entries = inspection.format, inspection.technical, list(inspection.entries)
    deliverable.save(update_fields=["format", "technical", "entries"])
    record_facts(deliverable, inspection.facts)
    audit.record("listing.reinspect_file", listing, actor=None, file=str(deliverable.pk), differences=detail)
    if listing.approved_deliverable_id == deliverable.pk:
        # The public page shows the details.
        listing_edited(listing)
    else:
        # Versions are compared by the facts.
        change_version()
    return Reinspected(ReinspectOutcome.CHANGED, detail, stale_manifest=_manifest_is_stale(listing))


def _manifest_is_stale(listing: Listing) -> bool:
    digests = AgentManifest.objects.filter(listing=listing).values_list("source_digest", flat=True)
    return any(digest != digest_of(sources_of(listing, active_tiers())) for digest in digests)
