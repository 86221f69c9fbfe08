"""The query of a page of a list."""

from typing import Any

from rest_framework import serializers

from marketplace.api.serializers import Limit, PageNumber

from ... import bounds


class PageQuery(serializers.Serializer[Any]):
    """Query of a list."""

    page = PageNumber()
    limit = Limit(default=bounds.VENDOR_PAGE_SIZE, maximum=bounds.MAX_VENDOR_PAGE_SIZE)
