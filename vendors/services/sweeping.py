"""Compares the object store with the database: finds objects without a record, and records without an object.

A process that is killed between storing a file and recording it, or between the two steps of a removal, leaves an
object that no row refers to. Objects are exempt for a day, because an upload is recorded after its file is stored.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from marketplace.core.ids import parse_id
from marketplace.storage import default_storage
from marketplace.storage.base import UnfinishedFile

from ..models import Upload
from .files import DELIVERABLES, PREVIEWS, STORED_MODELS, StoredRow, keys_of
from .store_pictures import FOLDER as STORES
from .uploads import FOLDER as UPLOADS

# The folders in which every object must belong to a row.
FOLDERS = (DELIVERABLES, PREVIEWS, UPLOADS, STORES)
GRACE = timedelta(days=1)
BATCH = 500

# Called with the number of keys that were compared.
OnBatch = Callable[[int], object]


def find_orphans(on_batch: OnBatch, *, age: timedelta) -> Iterator[str]:
    """Yield the keys of objects of at least this age that no row refers to, each batch checked right before it is yielded."""
    limit = timezone.now() - age
    for folder in FOLDERS:
        stored = default_storage.keys_with_times(folder)
        while batch := list(islice(stored, BATCH)):
            old = [key for key, written_at in batch if written_at <= limit]
            known = _recorded_among(old)
            yield from (key for key in old if key not in known)
            on_batch(len(batch))


def find_missing(on_batch: OnBatch) -> Iterator[str]:
    """Yield the keys that rows refer to and under which nothing is stored."""
    # Held in memory: a million keys take about 150 MB, and a request for each would take hours on S3.
    stored = {key for folder in FOLDERS for key, _ in default_storage.keys_with_times(folder)}
    for key in _recorded_keys():
        if key not in stored and _is_gone(key):
            yield key
        on_batch(1)


def find_unfinished(*, age: timedelta) -> Iterator[UnfinishedFile]:
    """Yield the incomplete objects of writers that were killed, at least this old."""
    limit = timezone.now() - age
    return (part for part in default_storage.unfinished() if part.since <= limit)


def _recorded_keys() -> Iterator[str]:
    for model in STORED_MODELS:
        for row in _with_keys(model).iterator():
            yield from keys_of(row)
    for upload in Upload.objects.only("parts").iterator():
        yield from upload.part_keys


def _recorded_among(keys: Collection[str]) -> set[str]:
    # The key of a rendition is that of its preview with a suffix.
    originals = {key.partition(".")[0] for key in keys}
    rows = [row for model in STORED_MODELS for row in _with_keys(model).filter(object_key__in={*keys, *originals})]
    # The key of a part begins with the id of its upload.
    ids = [found for key in keys if key.startswith(UPLOADS) and (found := parse_id(key.split("/")[1])) is not None]
    uploads = Upload.objects.filter(pk__in=ids).only("parts")
    return {*(key for row in rows for key in keys_of(row)), *(key for each in uploads for key in each.part_keys)}


def _with_keys(model: type[StoredRow]) -> QuerySet[Any]:
    """Return the rows of a model with no other columns than those with keys."""
    return model._default_manager.only("object_key", *(["renditions"] if hasattr(model, "renditions") else []))


def _is_gone(key: str) -> bool:
    """Check once more: the object may have been stored after the keys were listed, or its row removed."""
    try:
        default_storage.size(key)
    except FileNotFoundError:
        return key in _recorded_among([key])
    return False
