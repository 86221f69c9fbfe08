"""GET assets/{id}/changes: what changed between two published versions, of public facts only."""

from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from catalog.models import Deliverable, FileFacts, Listing
from catalog.services import review as services
from catalog.services import submission
from tests.catalog.cases import make_deliverable, open_review, published, submitted
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def _font(**changes: Any) -> dict[str, Any]:
    glyphs = {"A": ["one", 500, [65]], "B": ["two", 500, [66]]}
    face = {"glyphCount": 2, "glyphs": glyphs, "metrics": {"hhea ascent": 800}, "tables": {"GPOS": "x"}, "complete": True}
    return {"fonts": {"": [face | changes]}}


def _with_facts(file: Deliverable, facts: dict[str, Any]) -> Deliverable:
    FileFacts.objects.create(listing=file.listing, sha256=file.sha256, facts=facts)
    return file


def updated(listing: Listing, facts: dict[str, Any], **fields: Any) -> Listing:
    """Return the listing with an approved update."""
    listing.candidate_deliverable = _with_facts(make_deliverable(listing), facts)
    for name, value in fields.items():
        setattr(listing, name, value)
    listing.save()
    services.approve_listing(review=open_review(submitted(listing)), actor=UserFactory())
    return Listing.objects.select_related("approved_deliverable").get(pk=listing.pk)


def first(facts: dict[str, Any], **fields: Any) -> Listing:
    """Return a published listing whose file has these facts."""
    listing = published(version="1.0", **fields)
    assert listing.approved_deliverable is not None
    _with_facts(listing.approved_deliverable, facts)
    return listing


def changes(listing: Listing, query: dict[str, str] | None = None, status: int = 200) -> Any:
    response = Client().get(f"/api/v1/assets/{listing.slug}/changes", query)
    assert response.status_code == status, response.content
    return response.json()


@pytest.mark.slow
def test_redrawn_glyph_is_in_the_data_and_summary_of_the_changes() -> None:
    listing = first(_font())
    redrawn = _font(glyphs={"A": ["one", 500, [65]], "B": ["other", 510, [66]]}, metrics={"hhea ascent": 801})
    answer = changes(updated(listing, redrawn, version="1.1", description="Now with a better B."))
    (font,) = answer["fonts"]
    assert (font["redrawn"], font["respaced"]["count"]) == ({"count": 1, "names": ["B"]}, 1)
    assert font["metrics"] == [{"name": "hhea ascent", "before": "800", "after": "801"}]
    assert {each["name"] for each in answer["details"]} == {"description", "version"}
    assert (answer["from"]["version"], answer["to"]["version"], answer["comparable"]) == ("1.0", "1.1", True)
    assert any("redrawn (B)" in sentence for sentence in answer["summary"])


@pytest.mark.slow
def test_versions_are_named_and_the_first_one_changed_nothing() -> None:
    listing = updated(
        updated(first({"hosts": {"a.example": ["x"]}}), {"tools": ["Read"]}, version="1.1"), {"tools": ["Read", "Bash"]}, version="2"
    )
    assert changes(listing, {"from": "1.0", "to": "2"})["tools"]["added"]["names"] == ["Read", "Bash"]
    assert changes(listing, {"from": "1.1"})["tools"]["added"] == {"count": 1, "names": ["Bash"]}
    newer = changes(listing, {"from": "2", "to": "1.0"}, status=400)
    assert [each["pointer"] for each in newer["errors"]] == ["?from"]
    none = changes(listing, {"to": "1.0"})
    assert ("from" in none, none["summary"]) == (False, [])


def test_changes_for_buyers_contain_no_price_readme_or_text_of_the_file() -> None:
    listing = first({"texts": {"SKILL.md": "paid text"}}, readme="secret one")
    answer = changes(updated(listing, {"texts": {"SKILL.md": "other paid text"}}, readme="secret two", base_price_minor=77_700))
    assert not {
        word for word in ("paid", "secret", "777") if word in str(answer["details"]) + str(answer["summary"]) + str(answer["fonts"])
    }


@pytest.mark.slow
def test_unpublished_and_blocked_versions_are_not_compared() -> None:
    listing = updated(first(_font()), _font(metrics={}), version="1.1")
    unpublished = make_deliverable(listing, version="9")
    blocked = Deliverable.objects.get(listing=listing, version="1.0")
    services.block_deliverable(deliverable=blocked, reason="Bad.", actor=UserFactory())
    for version in (str(unpublished.pk), "9", "1.0", "nonsense"):
        assert changes(listing, {"from": version}, status=404)["code"] == "not_found"
        assert changes(listing, {"to": version}, status=404)["code"] == "not_found"
    submission.unpublish_listing(listing=listing, actor=listing.store.owner)
    assert changes(Listing.objects.get(pk=listing.pk), status=404)["code"] == "not_found"


def test_cached_comparison_with_a_version_ends_when_that_is_blocked_and_returns_when_the_block_is_undone() -> None:
    listing = updated(first(_font()), _font(metrics={}), version="1.1")
    compared = changes(listing)
    assert compared["from"]["version"] == "1.0"
    earlier = Deliverable.objects.get(listing=listing, version="1.0")
    services.block_deliverable(deliverable=earlier, reason="Bad.", actor=UserFactory())
    assert "from" not in changes(listing)
    services.unblock_deliverable(deliverable=earlier, reason="A mistake.", actor=UserFactory())
    assert changes(listing) == compared


def test_version_among_the_details_is_that_of_the_file() -> None:
    listing = first(_font())
    listing.candidate_deliverable, listing.version = _with_facts(make_deliverable(listing), _font()), "2.0"
    listing.save()
    submitted(listing)
    # Changed while the update waits; the first file has it.
    Listing.objects.filter(pk=listing.pk).update(version="1.0")
    services.approve_listing(review=open_review(listing), actor=UserFactory())
    answer = changes(listing)
    assert answer["details"] == [{"name": "version", "before": "1.0", "after": "1.0+2"}]
    assert (answer["from"]["version"], answer["to"]["version"]) == ("1.0", "1.0+2")


@pytest.mark.slow
def test_files_whose_facts_are_missing_or_damaged_cannot_be_compared() -> None:
    listing = updated(first({}), _font(), version="1.1")
    wrong: list[dict[str, Any]] = [{}, {"entries": 3}]
    on_sale = Listing.objects.values("approved_deliverable__sha256")
    for facts in wrong:
        FileFacts.objects.exclude(sha256__in=on_sale).update(facts=facts)
        caches["responses"].clear()
        answer = changes(listing)
        assert (answer["comparable"], answer["fonts"]) == (False, []), facts


def test_picture_with_other_bytes_and_the_same_details_is_not_said_to_have_the_same_contents() -> None:
    picture = {"media": {"": {"width": 800, "height": 600}}}
    answer = changes(updated(first(picture), picture))
    assert (answer["comparable"], answer["summary"][1:]) == (False, ["The file is another one. What changed in it was not recorded."])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (_font(), _font(), "The file was packed or exported anew; its contents are the same."),
        (_font(), _font(tables={"GPOS": "x", "MATH": "y"}), "The font: the table MATH changed."),
        ({"entries": [], "otherEntries": "x"}, {"entries": [], "otherEntries": "y"}, "Files beyond the first 5,000 changed."),
    ],
)
def test_summary_says_what_changed_in_the_contents(before: dict[str, Any], after: dict[str, Any], sentence: str) -> None:
    assert changes(updated(first(before), after))["summary"][1:] == [sentence]
