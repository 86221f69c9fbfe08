"""What the demo catalog says of its pictures."""

import pytest

from marketplace.core import bounds
from marketplace.pages.demo.alt_texts import alt_texts_of
from marketplace.pages.demo.entries import Entry, build_media, load_entries

pytestmark = pytest.mark.engineless

ENTRIES = load_entries()
# What decides how many pictures there are.
KINDS = {(entry.category, bool(entry.sound)): entry for entry in ENTRIES}


@pytest.mark.parametrize("entry", KINDS.values(), ids=lambda entry: entry.slug)
def test_every_picture_of_a_gallery_is_described(entry: Entry) -> None:
    assert len(alt_texts_of(entry)) == len(build_media(entry).gallery)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.slug)
def test_description_of_a_picture_is_a_sentence_of_its_own_within_the_bound(entry: Entry) -> None:
    texts = alt_texts_of(entry)
    assert len(set(texts)) == len(texts)
    assert all(0 < len(text) <= bounds.ALT_TEXT_CHARS for text in texts)
