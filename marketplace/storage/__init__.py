"""Uploaded files: two Django storages, for a folder and for an S3 bucket; `STORAGES["default"]` says which."""

from typing import cast

from django.core.files.storage import default_storage as _default_storage

from .base import ObjectStorage

default_storage = cast("ObjectStorage", _default_storage)
