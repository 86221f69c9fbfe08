"""Contents of packages: the original deliverable, README.txt and LICENSE.txt in an uncompressed zip archive."""

import hashlib
import re
import zlib
from datetime import datetime
from typing import Any

import orjson

from catalog.ai_use import training_sentence
from catalog.models import Deliverable, LicenseTerms, Listing
from catalog.selectors.listings import version_of_file
from marketplace.storage import default_storage
from marketplace.storage.base import Segment, StoredRange

from ..models import Package
from .zips import EARLIEST, ZipEntry, zip_parts

CONTENT_TYPE = "application/zip"
README, LICENSE = "README.txt", "LICENSE.txt"
# Part of every recipe; increase it when the layout changes, so that existing checksums stay valid.
_LAYOUT = 2
# The limit of file systems, less the length of the prefix `asset-`.
_NAME_BYTES = 240
# Windows does not allow these in file names.
_UNNAMABLE = str.maketrans(dict.fromkeys('<>:"|?*', "_"))
# Names that Windows gives to devices, with any extension; `cam.py` refuses them too.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\s*\..*)?", re.IGNORECASE)


def readme_of(listing: Listing, version: str) -> str:
    """Return README.txt: the vendor's, or a summary of the listing if there is none."""
    if listing.readme:
        return listing.readme
    lines = [listing.title, "", listing.short_description, "", f"From: {listing.store.name}"]
    return "\n".join([*lines, *([f"Version: {version}"] if version else []), ""])


def license_of(listing: Listing, terms: LicenseTerms, ai_training: str) -> str:
    """Return LICENSE.txt: the asset, the term for AI training and the licence terms."""
    about = [f"Asset: {listing.title} ({listing.slug})", f"From: {listing.store.name}", f"AI training: {training_sentence(ai_training)}"]
    return "\n".join([terms.name, "", *about, "", terms.text, ""])


def package_of(listing: Listing, deliverable: Deliverable, terms: LicenseTerms, ai_training: str) -> Package:
    """Return an unsaved package of a file under these terms, without size and checksum."""
    readme = readme_of(listing, version_of_file(deliverable, listing))
    package = Package(deliverable=deliverable, readme_text=readme, license_text=license_of(listing, terms, ai_training))
    package.recipe = _recipe(package)
    return package


def package_parts(package: Package) -> list[Segment]:
    """Return the segments of the package's bytes."""
    deliverable = package.deliverable
    content = StoredRange(default_storage, deliverable.object_key, 0, deliverable.file_size)
    return zip_parts(
        [
            ZipEntry(entry_name(deliverable), deliverable.file_size, deliverable.crc32, content),
            _text_entry(README, package.readme_text),
            _text_entry(LICENSE, package.license_text),
        ],
        at=_time_of(deliverable),
    )


def _recipe(package: Package) -> str:
    deliverable = package.deliverable
    texts = (package.readme_text, package.license_text)
    ingredients: list[Any] = [_LAYOUT, deliverable.sha256, entry_name(deliverable), _time_of(deliverable), *texts]
    return hashlib.sha256(orjson.dumps(ingredients)).hexdigest()


def _time_of(deliverable: Deliverable) -> datetime:
    """Return the time of all entries: that of the file's approval, which never changes."""
    return deliverable.approved_at or EARLIEST


def entry_name(deliverable: Deliverable) -> str:
    """Return the file's name in the archive, without a path, valid on every system, and other than those of the texts."""
    name = "".join(char for char in deliverable.original_filename if char.isprintable())
    name = name.replace("\\", "/").rsplit("/", 1)[-1].strip(" .").translate(_UNNAMABLE)
    # Cut at the front, to keep the extension.
    name = name.encode()[-_NAME_BYTES:].decode(errors="ignore").lstrip(" .")
    if not name or name.casefold() in {README.casefold(), LICENSE.casefold()} or _DEVICE.fullmatch(name):
        return f"asset-{name or 'file'}"
    return name


def _text_entry(name: str, text: str) -> ZipEntry:
    content = text.encode()
    return ZipEntry(name, len(content), zlib.crc32(content), content)
