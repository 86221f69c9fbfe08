"""Where files are kept: one folder, or an S3 bucket, as `STORAGES["default"]` says."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, storages
from storages.backends.s3 import S3Storage

from .base import ObjectStore
from .local import LocalStore
from .s3 import S3Store


def object_store() -> ObjectStore:
    """Return the store that the settings name at this moment."""
    storage = storages["default"]
    if isinstance(storage, S3Storage):
        return S3Store(storage)
    if isinstance(storage, FileSystemStorage):
        return LocalStore(Path(storage.location))
    raise ImproperlyConfigured(f"STORAGES['default'] is {type(storage).__name__}; use FileSystemStorage or S3Storage.")
