"""What the library does when something happens below it."""

from catalog.events import ListingPublished
from marketplace.core.events import subscribe_later

from .jobs import build_published

subscribe_later(ListingPublished, build_published)
