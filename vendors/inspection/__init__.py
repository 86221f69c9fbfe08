"""What an uploaded deliverable is, decided by its content in a process of its own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from marketplace.core.objects.base import ObjectStore

from ..sandbox.entries import LISTED, PATH_CHARS
from ..sandbox.runner import Limits, look, reader_of

# Walking 2 GiB of unpacked archive is the longest honest look.
LIMITS = Limits(cpu_seconds=60, wall_seconds=120)
FORMATS = frozenset(
    "zip tar tar.gz tar.bz2 tar.xz otf ttf ttc woff woff2 jpg png webp psd wav mp3 aac m4a flac ogg".split()  # noqa: SIM905 - one line reads best
)


class Inspection(NamedTuple):
    """What was found; `technical` is the record's `technicalJson`, `format` the one in it.

    `entries` are the first `[path, bytes]` of an archive, for reviewers.
    """

    format: str
    technical: dict[str, Any]
    entries: Sequence[Sequence[str | int]] = ()


def inspect_deliverable(*, store: ObjectStore, key: str, size: int) -> Inspection:
    """Look into a stored file; only what the format's parser asks for is read from the store.

    Raises:
        UnsupportedType: 415, the content is of no type that is taken.
        FileRejected: 400, it is damaged, hostile, or takes more time or memory than an honest file.
        DependencyUnavailable: 503, too many files are being looked into, or the store cannot be read.
    """
    return look("inspect", read_at=reader_of(store, key), size=size, limits=LIMITS, interpret=_inspection)


def _inspection(technical: dict[str, Any], _blobs: list[bytes]) -> Inspection:
    if technical["format"] not in FORMATS:
        raise ValueError(technical["format"])
    for name in ("entryCount", "uncompressedSize"):
        if type(technical[name]) is not int or technical[name] < 0:
            raise ValueError(name)
    return Inspection(technical["format"], technical, _entries(technical.pop("entries", [])))


def _entries(listed: Any) -> list[list[str | int]]:
    """Return the listed entries, once they are what they claim to be."""
    if len(listed) > LISTED:
        raise ValueError("entries")
    for path, size in listed:
        if type(path) is not str or len(path) > PATH_CHARS or type(size) is not int or size < 0:
            raise ValueError("entries")
    return list(listed)
