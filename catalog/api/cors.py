"""Scripts of any origin may read the public catalog and previews; the rest goes by the configured list."""

import re

from corsheaders.signals import check_request_enabled
from django.http import HttpRequest

# The manifest lies one level deeper: it needs a key, and keys have no place in browsers.
_CATALOG = re.compile(r"/api/v1/(?:categories|assets(?:/[^/]+)?)")
_PREVIEW = re.compile(r"/api/v1/previews/[^/]+")


def is_public(path: str) -> bool:
    """Tell whether the address is one of the public catalog, whose answers are the same for everyone."""
    return _CATALOG.fullmatch(path) is not None


def allow_public(sender: object, request: HttpRequest, **_kwargs: object) -> bool:
    """Tell whether the address is one that any origin may read."""
    return is_public(request.path_info) or _PREVIEW.fullmatch(request.path_info) is not None


def connect() -> None:
    """Be asked for each request that comes from another origin."""
    check_request_enabled.connect(allow_public, dispatch_uid="catalog.public")
