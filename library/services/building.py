"""Prepares packages: computes their size and checksum, and on S3 builds the object, so that the store can serve it directly.

For the checksum, the file is read once for all licence tiers together. On S3, the store then copies
the file into the package; on a local disk nothing is built, and a package is assembled while it is served.
This is done when a listing is published, by command, or at the first download. No lock is needed: the same
recipe always gives the same bytes.
"""

import hashlib
import logging
import uuid
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import Exists, OuterRef
from django.utils import timezone

from catalog.models import Deliverable, Listing
from catalog.pricing import permitted_tiers
from catalog.selectors.listings import listings_on_sale
from catalog.selectors.taxonomy import active_tiers, current_terms
from marketplace.core.ids import new_id
from marketplace.storage import default_storage
from marketplace.storage.base import StoredRange

from ..models import DownloadLink, Licence, Package
from .packages import CONTENT_TYPE, package_of, package_parts

FOLDER = "packages/"
# A package is stored before its row refers to it: only older ones without a row are orphans.
GRACE = timedelta(days=1)
BATCH = 500

logger = logging.getLogger(__name__)


class DamagedFile(Exception):
    """The stored file differs from the uploaded one and is not served."""


def prepare_package(*, licence: Licence, deliverable: Deliverable) -> Package:
    """Return the prepared package of a licence with this file."""
    package = package_of(licence.listing, deliverable, licence.terms, licence.ai_training)
    return prepare_packages(packages=[package])[0]


def find_packages_on_sale(listing: Listing) -> list[Package]:
    """Return the current packages of a listing, unsaved, one for each licence on sale; none for a blocked file."""
    file = listing.approved_deliverable
    if file is None or file.blocked_at is not None:
        return []
    terms, tiers = current_terms(), permitted_tiers(listing, active_tiers())
    return [package_of(listing, file, terms[tier.pk], listing.ai_training) for tier in tiers if tier.pk in terms]


def prepare_packages(*, packages: Sequence[Package]) -> list[Package]:
    """Return the stored packages for these unsaved ones, which share a file, in the same order; prepare those that are missing.

    Raises:
        DamagedFile: length or checksum of the stored file differ from the record.
        FileNotFoundError: the stored file is missing.
    """
    # Only for S3 is there such a URL; it is made without a request to the store.
    builds = default_storage.presigned_url(f"{FOLDER}any", seconds=1, filename="any", content_type=CONTENT_TYPE) is not None
    wanted = {package.recipe: package for package in packages}
    known = {package.recipe: package for package in Package.objects.select_related("deliverable").filter(recipe__in=wanted)}
    missing = [package for recipe, package in wanted.items() if recipe not in known or (builds and not known[recipe].object_key)]
    if missing:
        _set_checksums(missing)
    for package in missing:
        if builds:
            # A unique key for each build, so that a concurrent deletion never affects a new build.
            package.object_key = f"{FOLDER}{package.recipe}/{new_id().hex}"
            default_storage.compose(package.object_key, package_parts(package), content_type=CONTENT_TYPE)
        known[package.recipe] = _save(package)
    return [known[package.recipe] for package in packages]


def prepare_listing_packages(*, listing_id: uuid.UUID) -> None:
    """Prepare the current packages of a listing."""
    listing = Listing.objects.select_related("approved_deliverable", "store").filter(pk=listing_id).first()
    # None if it was deleted with its vendor's account.
    if listing is not None:
        prepare_packages(packages=find_packages_on_sale(listing))


def find_unused_packages(*, since: datetime) -> Iterator[Package]:
    """Yield the built packages without a link issued since then, except for those on sale, which would be built again."""
    recent = DownloadLink.objects.filter(package=OuterRef("pk"), issued_at__gte=since)
    built = Package.objects.exclude(object_key="").filter(created_at__lt=since).select_related("deliverable")
    for package in built.filter(~Exists(recent)).iterator(chunk_size=BATCH):
        listing = listings_on_sale().select_related("store").filter(approved_deliverable=package.deliverable).first()
        if listing is None or package.recipe not in {each.recipe for each in find_packages_on_sale(listing)}:
            yield package


def delete_built_package(*, package: Package) -> None:
    """Delete a built package from the store. Its links still work: it is assembled while it is served, or built again.

    One that was rebuilt meanwhile has another key and is kept.
    """
    Package.objects.filter(pk=package.pk, object_key=package.object_key).update(object_key="")
    default_storage.delete(package.object_key)


def find_orphaned_keys() -> Iterator[str]:
    """Yield the keys of packages older than a day without a row, which an interrupted build left behind."""
    limit, stored = timezone.now() - GRACE, default_storage.keys_with_times(FOLDER)
    # By batches: no index finds a package by its key.
    while batch := list(islice(stored, BATCH)):
        old = [key for key, written_at in batch if written_at < limit]
        known = set(Package.objects.filter(object_key__in=old).values_list("object_key", flat=True))
        yield from (key for key in old if key not in known)


def _set_checksums(packages: Sequence[Package]) -> None:
    """Set size and SHA-256 of packages with the same file, which is read once."""
    head, content = package_parts(packages[0])[:2]
    if isinstance(head, StoredRange) or not isinstance(content, StoredRange):
        raise TypeError("a package begins with a header, followed by the file")
    digest, crc, length = hashlib.sha256(head), 0, 0
    for block in default_storage.read(content.key, content.start, content.end):
        digest.update(block)
        crc = zlib.crc32(block, crc)
        length += len(block)
    if (length, crc) != (packages[0].deliverable.file_size, packages[0].deliverable.crc32):
        raise DamagedFile(content.key)
    for package in packages:
        # The two texts and the directory.
        own, tail = digest.copy(), b"".join(part for part in package_parts(package)[2:] if isinstance(part, bytes))
        own.update(tail)
        package.size, package.sha256 = len(head) + length + len(tail), own.hexdigest()


def _save(package: Package) -> Package:
    """Save a package and return its row; a concurrent build has saved the same values."""
    fields = ("deliverable", "readme_text", "license_text", "size", "sha256", "object_key")
    stored, _ = Package.objects.update_or_create(
        recipe=package.recipe,
        defaults={"object_key": package.object_key},
        create_defaults={name: getattr(package, name) for name in fields},
    )
    return stored
