"""Storages of uploaded files: a local folder or an S3 bucket, chosen by `STORAGES["default"]`."""

from typing import cast

from django.core.files.storage import default_storage as _default_storage

from .base import ObjectStorage

default_storage = cast("ObjectStorage", _default_storage)
