"""Prepares packages: computes size and checksum, and on S3 builds the object, so that the store can serve it directly.

The checksum that a link promises needs the file read once, for all licence tiers together. On S3 the store then copies
the file into the package; on a local disk nothing is built, a package is put together from its parts as it is served.
It happens when a listing is published or by command, and at the first download otherwise. No lock is held: the same
recipe is the same bytes, whoever builds them.
"""

import hashlib
import logging
import uuid
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from catalog.models import Deliverable, Listing
from catalog.pricing import permitted_tiers
from catalog.selectors.taxonomy import Terms, active_tiers, terms_at
from marketplace.core.ids import new_id
from marketplace.storage import default_storage
from marketplace.storage.base import ObjectStorage, Stored

from ..models import DownloadLink, Licence, Package
from .packages import CONTENT_TYPE, package_of, package_parts

FOLDER = "packages/"
# Building takes its time to store a package before its row names it.
GRACE = timedelta(days=1)
BATCH = 500

logger = logging.getLogger(__name__)


class DamagedFile(Exception):
    """The stored file is not the one that was uploaded; buyers get an error and operators a log line, never the bytes."""


def package_for(*, licence: Licence, deliverable: Deliverable) -> Package:
    """Return the package of a licence around a file, made ready now where that did not happen before."""
    package = package_of(licence.listing, deliverable, terms_at(licence.tier, licence.acquired_at))
    return make_ready(packages=[package])[0]


def find_packages_on_sale(listing: Listing) -> list[Package]:
    """Return the packages that buyers would get now, one for each licence on sale; none for a blocked file."""
    file = listing.live_deliverable
    if file is None or file.blocked_at is not None:
        return []
    return [package_of(listing, file, Terms(tier.name, tier.text)) for tier in permitted_tiers(listing, active_tiers())]


def make_ready(*, packages: Sequence[Package]) -> list[Package]:
    """Return packages around one file, in their order, as they are kept; what is not there yet is made.

    Raises:
        DamagedFile: the stored file has another length or checksum than the record says.
    """
    store = default_storage
    builds = _serves_itself(store)
    wanted = {package.recipe: package for package in packages}
    known = {package.recipe: package for package in Package.objects.select_related("deliverable").filter(recipe__in=wanted)}
    lacking = [package for recipe, package in wanted.items() if recipe not in known or (builds and not known[recipe].object_key)]
    if lacking:
        _measure(lacking, store)
    for package in lacking:
        if builds:
            # A key of its own for each build: what is removed meanwhile is never what was built meanwhile.
            package.object_key = f"{FOLDER}{package.recipe}/{new_id().hex}"
            store.compose(package.object_key, package_parts(package, store), content_type=CONTENT_TYPE)
        known[package.recipe] = _keep(package)
    return [known[package.recipe] for package in packages]


def build_when_published(*, listing_id: uuid.UUID) -> None:
    """Make the packages of a listing ready that is on sale now."""
    listing = Listing.objects.select_related("live_deliverable", "store").get(pk=listing_id)
    packages = find_packages_on_sale(listing)
    if packages:
        make_ready(packages=packages)


def find_unused_packages(*, since: datetime) -> Iterator[Package]:
    """Yield the built packages to which no link was issued since then."""
    recent = DownloadLink.objects.filter(package=OuterRef("pk"), issued_at__gte=since)
    built = Package.objects.exclude(object_key="").filter(created_at__lt=since)
    return built.filter(~Exists(recent)).iterator(chunk_size=BATCH)


def remove_built(*, package: Package) -> None:
    """Remove a built package from the store. Links to it go on working: it is put together as it is served, or built anew.

    One that was built anew meanwhile has another key, and stays.
    """
    Package.objects.filter(pk=package.pk, object_key=package.object_key).update(object_key="")
    default_storage.delete(package.object_key)


def find_stray_packages(store: ObjectStorage) -> Iterator[str]:
    """Yield the keys of packages older than a day that no row names: their builder was killed."""
    limit = timezone.now() - GRACE
    for key, written_at in store.keys(FOLDER):
        if written_at < limit and not Package.objects.filter(object_key=key).exists():
            yield key


def _serves_itself(store: ObjectStorage) -> bool:
    """Tell whether the store hands files to buyers itself; a link is signed without asking the store."""
    return store.presigned_url(f"{FOLDER}any", seconds=1, filename="any", content_type=CONTENT_TYPE) is not None


def _measure(packages: Sequence[Package], store: ObjectStorage) -> None:
    """Set size and SHA-256 of packages that begin with the same file, read once for all of them."""
    head, content = package_parts(packages[0], store)[:2]
    if isinstance(head, Stored) or not isinstance(content, Stored):
        raise TypeError("a package begins with a header and goes on with the file")
    digest, crc, length = hashlib.sha256(head), 0, 0
    for block in store.read(content.key, content.start, content.end):
        digest.update(block)
        crc = zlib.crc32(block, crc)
        length += len(block)
    if (length, crc) != (packages[0].deliverable.file_size, packages[0].deliverable.crc32):
        raise DamagedFile(content.key)
    for package in packages:
        own, tail = digest.copy(), _tail(package, store)
        own.update(tail)
        package.size, package.sha256 = len(head) + length + len(tail), own.hexdigest()


def _tail(package: Package, store: ObjectStorage) -> bytes:
    """Return what follows the file: the two texts and the directory."""
    return b"".join(part for part in package_parts(package, store)[2:] if isinstance(part, bytes))


def _keep(package: Package) -> Package:
    """Return the row of a package; whoever else made it meanwhile made the same."""
    made = ("deliverable", "readme_text", "license_text", "size", "sha256", "object_key")
    stored, _ = Package.objects.update_or_create(
        recipe=package.recipe,
        defaults={"object_key": package.object_key},
        create_defaults={name: getattr(package, name) for name in made},
    )
    return stored
