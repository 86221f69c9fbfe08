"""Updates that wait for review, each with one change that is easily overlooked; built from real files by the services."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from catalog.models import Listing, ListingReview
from catalog.services import review as services
from catalog.services import submission
from tests.catalog.cases import PASSED, open_review
from tests.factories import ListingFactory, UserFactory
from tests.files import makers
from tests.vendors import attaching

_SIZES = {f"letter{number}": 100 + number for number in range(26)}
_SKILL = "---\nname: Helper\nallowed-tools: Read\n---\nHelps with letters.\n"
_SCRIPT = "import json\n\n\ndef run(text):\n    return json.loads(text)\n" * 30


def _font(**sizes: int) -> bytes:
    return makers.drawn_font(_SIZES | sizes, dict.fromkeys(_SIZES, 600), cff=False)


def _skill(skill: str = _SKILL, script: str = _SCRIPT) -> bytes:
    return makers.zipped({"SKILL.md": skill, "scripts/run.py": script, "data.bin": random.Random(3).randbytes(9000)})


def _archive(**others: bytes) -> bytes:
    entries = {f"brush{number:03}": random.Random(number).randbytes(500) for number in range(120)}
    return makers.zipped(entries | others)


@dataclass(frozen=True)
class Change:
    """An update of a published listing; `shown` is a text that the page has only where it tells of the change."""

    name: str
    before: bytes
    after: bytes
    shown: str
    edits: Mapping[str, Any] = field(default_factory=dict)


def changes() -> list[Change]:
    """Return an update for each kind of comparison, each with a change that is hidden well."""
    plain, changed = makers.zipped({"a.txt": "one"}), makers.zipped({"a.txt": "one", "b.txt": "two"})
    return [
        Change("one glyph", _font(), _font(letter7=108), "Redrawn, 1: letter7 (H U+0048)"),
        Change("one host", _skill(), _skill(script=f"{_SCRIPT}\nURL = 'https://collector.example.net/x'\n"), "+ collector.example.net"),
        Change("one price", plain, changed, "Price in euros", {"price_eur_minor": 1999}),
        Change("one entry", _archive(), _archive(brush077=random.Random(77).randbytes(499) + b"!"), "changed brush077"),
        Change("one tool", _skill(), _skill(skill=_SKILL.replace("Read", "Read, Ba\u202esh")), "+ tool Ba[U+202E]sh"),
    ]


attach = partial(attaching.attach, inspected=True)


def submit(listing: Listing) -> ListingReview:
    """Submit a listing, and return the review that waits."""
    listing = Listing.objects.get(pk=listing.pk)
    submission.submit_listing(listing=listing, checks=PASSED, actor=listing.store.owner)
    return open_review(listing)


def waiting_update(change: Change) -> ListingReview:
    """Return the review of an update of a published listing."""
    listing = ListingFactory(title=f"A listing with {change.name}")
    attach(listing, change.before)
    services.approve_listing(review=submit(listing), actor=UserFactory())
    attach(Listing.objects.get(pk=listing.pk), change.after)
    Listing.objects.filter(pk=listing.pk).update(**change.edits)
    return submit(listing)
