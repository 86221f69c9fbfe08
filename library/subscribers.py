"""Subscribes the library's jobs to events of the catalog."""

from catalog.events import ListingPublished
from marketplace.core.events import subscribe_later

from .jobs import build_published

subscribe_later(ListingPublished, build_published)
