"""What the library does when something happens below it."""

from catalog.events import ListingPublished
from marketplace.core.events import subscribe

from .services.building import build_when_published

subscribe(ListingPublished, build_when_published)
