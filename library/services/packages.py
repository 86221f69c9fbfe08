"""Packages: the reviewed deliverable untouched, README.txt and LICENSE.txt in a STORED zip.

On a local disk a package is never built: it is put together from its parts as it is served. On S3 it is built once, in
one pass, so that the store can serve it. Both need the file read once, for the checksum; no lock is held meanwhile.
"""

import hashlib
import zlib
from collections.abc import Iterator
from typing import Any

import orjson

from catalog.models import Deliverable
from catalog.selectors.taxonomy import terms_at
from marketplace.core import bounds
from marketplace.core.objects import object_store
from marketplace.core.objects.base import ObjectStore, ObjectWriter
from marketplace.core.serving import Segment, Stored

from ..models import Licence, Package
from .zips import Entry, zip_parts

CONTENT_TYPE = "application/zip"
README, LICENSE = "README.txt", "LICENSE.txt"
# Part of every recipe: a change of the layout makes new packages instead of breaking promised checksums.
_LAYOUT = 1


class DamagedFile(Exception):
    """The stored file is not the one that was uploaded; buyers get an error and operators a log line, never the bytes."""


def readme_of(licence: Licence) -> str:
    """Return README.txt: the vendor's, or the facts of the listing when the vendor wrote none."""
    listing = licence.listing
    if listing.readme:
        return listing.readme
    lines = [listing.title, "", listing.short_description, "", f"From: {listing.store.name}"]
    return "\n".join([*lines, *([f"Version: {listing.version}"] if listing.version else []), ""])


def license_of(licence: Licence) -> str:
    """Return LICENSE.txt: what was bought, and the terms under which it was."""
    listing = licence.listing
    terms = terms_at(licence.tier, licence.acquired_at)
    return f"{terms.name}\n\nAsset: {listing.title} ({listing.slug})\nFrom: {listing.store.name}\n\n{terms.text}\n"


def package_for(*, licence: Licence, deliverable: Deliverable) -> Package:
    """Return the package of a licence around a file; the first call for its content reads the file once."""
    package = Package(deliverable=deliverable, readme_text=readme_of(licence), license_text=license_of(licence))
    package.recipe = _recipe(package)
    store = object_store()
    must_build = _serves_itself(store)
    known = Package.objects.select_related("deliverable").filter(recipe=package.recipe).first()
    if known is not None and (known.object_key or not must_build):
        return known
    key = f"packages/{package.recipe}" if must_build else ""
    size, sha256 = _build(package, store, key) if key else _measure(package, store)
    # Whoever else did the same meanwhile found the same bytes.
    stored, _ = Package.objects.update_or_create(
        recipe=package.recipe,
        defaults={"object_key": key},
        create_defaults={
            "deliverable": deliverable,
            "readme_text": package.readme_text,
            "license_text": package.license_text,
            "size": size,
            "sha256": sha256,
            "object_key": key,
        },
    )
    return stored


def package_parts(package: Package, store: ObjectStore) -> list[Segment]:
    """Return the parts that the package's bytes are made of."""
    deliverable = package.deliverable
    content = Stored(store, deliverable.object_key, 0, deliverable.file_size)
    return zip_parts(
        [
            Entry(_entry_name(deliverable), deliverable.file_size, deliverable.crc32, content),
            _text_entry(README, package.readme_text),
            _text_entry(LICENSE, package.license_text),
        ]
    )


def _recipe(package: Package) -> str:
    deliverable = package.deliverable
    ingredients: list[Any] = [_LAYOUT, deliverable.sha256, _entry_name(deliverable), package.readme_text, package.license_text]
    return hashlib.sha256(orjson.dumps(ingredients)).hexdigest()


def _entry_name(deliverable: Deliverable) -> str:
    """Return the name of the file in the archive: never a path, never that of a text beside it."""
    name = "".join(char for char in deliverable.original_filename if char.isprintable())
    name = name.replace("\\", "/").rsplit("/", 1)[-1].strip(" .")[-bounds.FILE_NAME_CHARS :]
    if not name or name.casefold() in {README.casefold(), LICENSE.casefold()}:
        return f"asset-{name or 'file'}"
    return name


def _text_entry(name: str, text: str) -> Entry:
    content = text.encode()
    return Entry(name, len(content), zlib.crc32(content), content)


def _serves_itself(store: ObjectStore) -> bool:
    """Tell whether the store hands files to buyers itself; a link is signed without asking the store."""
    return store.presigned_url("packages/any", seconds=1, filename="any", content_type=CONTENT_TYPE) is not None


def _measure(package: Package, store: ObjectStore) -> tuple[int, str]:
    """Read the package's bytes; return their number and their SHA-256."""
    digest, size = hashlib.sha256(), 0
    for block in _blocks(package, store):
        digest.update(block)
        size += len(block)
    return size, digest.hexdigest()


def _build(package: Package, store: ObjectStore, key: str) -> tuple[int, str]:
    """Write the package into the store in the pass that measures it."""
    writer: ObjectWriter = store.create(key, content_type=CONTENT_TYPE)
    try:
        digest, size = hashlib.sha256(), 0
        for block in _blocks(package, store):
            digest.update(block)
            writer.write(block)
            size += len(block)
        writer.commit()
    finally:
        writer.abort()
    return size, digest.hexdigest()


def _blocks(package: Package, store: ObjectStore) -> Iterator[bytes]:
    """Yield the package's bytes, checking the file against its record on the way.

    Raises:
        DamagedFile: the stored file has another length or checksum than the record says.
    """
    for part in package_parts(package, store):
        if isinstance(part, bytes):
            yield part
            continue
        crc, length = 0, 0
        for block in store.read(part.key, part.start, part.end):
            crc = zlib.crc32(block, crc)
            length += len(block)
            yield block
        if (length, crc) != (package.deliverable.file_size, package.deliverable.crc32):
            raise DamagedFile(part.key)
