"""The vendor side of the API."""

from .listings import ListingViews
from .profiles import ProfileViews

__all__ = ["ListingViews", "ProfileViews"]
