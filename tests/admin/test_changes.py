"""What changed since the last decision, on the page of a review: hidden changes, drawings, files inside archives, earlier findings."""

import random
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Deliverable, FileFacts, FormerPreview, Listing, ListingReview
from catalog.models.files import PreviewKind
from catalog.services import review as services
from marketplace.core.models import AuditEntry
from marketplace.review.appeals import overturn_decision
from marketplace.storage.local import LocalStorage
from tests.admin.changed import Change, attach, changes, submit, waiting_update
from tests.admin.pages import address, staff
from tests.callers import signed_in
from tests.catalog.cases import FINDING, open_review
from tests.factories import ListingFactory, UserFactory
from tests.files import makers
from tests.review.cases import appealed
from tests.vendors.attaching import show
from vendors.previews import ProcessedPreview
from vendors.services.files import attach_preview
from vendors.services.sweeping import find_orphans

pytestmark = pytest.mark.django_db


def section(browser: Client, review: ListingReview, **query: str) -> Any:
    response = browser.get(address(ListingReview, "change", review.pk), query)
    found = BeautifulSoup(response.content, "html.parser").select_one("#subject-changes")
    assert found is not None
    return found


def words(part: Any) -> str:
    """Return the text of a part of a page, with single spaces."""
    return " ".join(part.get_text(" ").split()).replace(" ,", ",")


def entry(file: Deliverable, name: str = "admin-file-entry", **query: Any) -> str:
    return f"{reverse(name, args=[file.pk])}?{'&'.join(f'{key}={value}' for key, value in query.items())}"


@pytest.mark.slow
@pytest.mark.parametrize("change", changes(), ids=lambda change: change.name)
def test_every_hidden_change_of_a_file_is_shown_to_the_reviewer(
    browser: Client, change: Change, django_assert_max_num_queries: Any
) -> None:
    review = waiting_update(change)
    with django_assert_max_num_queries(15):
        shown = words(section(browser, review))
    assert change.shown in shown


@pytest.mark.slow
def test_names_metrics_and_widths_of_a_font_and_words_that_changed_are_shown(browser: Client) -> None:
    sizes = {f"letter{number}": 100 for number in range(26)}
    widths = dict.fromkeys(sizes, 600)
    change = Change(
        "a font",
        makers.drawn_font(sizes, widths, cff=False),
        makers.drawn_font(sizes, widths | {"letter3": 601}, cff=False, name="Two", field=801),
        "",
        {"short_description": "A warm grotesque, for print."},
    )
    part = section(browser, waiting_update(change))
    for shown in ("Name, family: One Two", "Metric hhea ascent: 800 801", "Different width, 1: letter3 600 → 601"):
        assert shown in words(part)
    assert "warm grotesque, for print" in [piece.get_text() for piece in part.select(".changes ins")]
    assert part.select(".changes del")


@pytest.mark.slow
def test_files_that_cannot_be_compared_are_said_to_be(browser: Client) -> None:
    review = waiting_update(changes()[3])
    FileFacts.objects.filter(listing=review.listing, sha256=review.snapshot["file"]["checksum"]).update(facts={"fonts": {"": [{}]}})
    assert "cannot be compared" in words(section(browser, review))


@pytest.mark.slow
def test_findings_are_marked_as_addressed_if_the_vendor_changed_their_field(browser: Client) -> None:
    listing = ListingFactory()
    attach(listing, makers.archive(a_txt="1"))
    services.approve_listing(review=submit(listing), actor=UserFactory())
    attach(Listing.objects.get(pk=listing.pk), makers.archive(a_txt="2"))
    findings = [FINDING, FINDING | {"field": "description", "message": "It says too little."}, FINDING | {"field": "", "message": "Rough."}]
    refused = submit(listing)
    services.reject_listing(review=refused, findings=[{**each, "code": "other"} for each in findings], actor=UserFactory())
    attach(Listing.objects.get(pk=listing.pk), makers.archive(a_txt="3"))
    review = submit(listing)
    found = section(browser, review)
    assert [" ".join(item.get_text(" ").split())[:1] for item in found.select(".findings-before li")] == ["✓", "✗", "?"]
    assert "rejected" in words(found.p)
    # The file that was rejected is gone, and still compared.
    assert "changed a.txt" in words(found)
    approved = ListingReview.objects.get(listing=listing, status="Approved")
    assert "approved" in words(section(browser, review, against=str(approved.pk)).p)
    assert "rejected" in words(section(browser, review, against="nonsense").p)


def _updated(listing: Listing, **contents: bytes) -> ListingReview:
    attach(Listing.objects.get(pk=listing.pk), makers.archive(**contents))
    return submit(listing)


def _on_sale(**contents: bytes) -> Listing:
    listing = ListingFactory()
    services.approve_listing(review=_updated(listing, **contents), actor=UserFactory())
    return Listing.objects.get(pk=listing.pk)


@pytest.mark.slow
def test_file_pending_at_a_takedown_is_compared_with_the_approved_one_again(browser: Client) -> None:
    listing = _on_sale(a_txt=b"1")
    _updated(listing, a_txt=b"1", evil_txt=b"2")
    services.takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    found = section(browser, submit(listing))
    assert "approved" in words(found.p)
    assert "added evil.txt" in words(found)


@pytest.mark.slow
def test_file_added_in_a_rejected_update_is_shown_again_against_the_approved_version(browser: Client) -> None:
    listing = _on_sale(a_txt=b"1")
    services.reject_listing(
        review=_updated(listing, a_txt=b"1", evil_txt=b"2"), findings=[FINDING | {"code": "other"}], actor=UserFactory()
    )
    Listing.objects.filter(pk=listing.pk).update(title="Another title")
    found = section(browser, submit(listing))
    assert "rejected" in words(found.p)
    assert "1 file inside added" in words(found.select_one(".since-approved"))


@pytest.mark.slow
def test_submission_that_an_appeal_reopened_is_compared_with_what_was_decided_before(browser: Client) -> None:
    listing = _on_sale(a_txt=b"1")
    services.reject_listing(review=_updated(listing, a_txt=b"2"), findings=[FINDING | {"code": "other"}], actor=UserFactory())
    overturn_decision(appeal=appealed(Listing.objects.get(pk=listing.pk)), reason="It is fine.", actor=UserFactory())
    found = section(browser, open_review(listing))
    assert "approved" in words(found.p)
    assert "changed a.txt" in words(found)


@pytest.mark.slow
def test_changed_file_is_shown_among_many_added_and_moved_ones(browser: Client) -> None:
    filler = {f"f{number:03}.bin": random.Random(number).randbytes(20) for number in range(60)}
    before = makers.zipped({**{f"old/{path}": content for path, content in filler.items()}, "z.bin": b"harmless"})
    added = {f"added/{path}": content + b"." for path, content in filler.items()}
    after = makers.zipped({**added, **{f"new/{path}": content for path, content in filler.items()}, "z.bin": b"evil"})
    shown = words(section(browser, waiting_update(Change("filler", before, after, ""))))
    assert "Files inside 1 changed, 60 added, 60 moved changed z.bin" in shown
    assert "added/f059.bin" in shown


@pytest.mark.slow
def test_all_redrawn_glyphs_are_named_and_drawn(browser: Client) -> None:
    sizes, widths = ({f"letter{number}": value for number in range(130)} for value in (100, 600))
    fonts = [makers.drawn_font(dict.fromkeys(sizes, size), widths, cff=False) for size in (100, 101)]
    found = section(browser, waiting_update(Change("all glyphs", fonts[0], fonts[1], "")))
    assert "Redrawn, 131:" in words(found)
    assert "letter129" in words(found)
    assert len(found.select(".sheets img")) == 12


@pytest.mark.slow
def test_glyphs_that_differ_are_drawn_before_and_now(browser: Client) -> None:
    review = waiting_update(changes()[0])
    sheets = [str(image["src"]) for image in section(browser, review).select(".sheets img")]
    assert len(sheets) == 2
    drawn = [browser.get(sheet) for sheet in sheets]
    assert {response["Content-Type"] for response in drawn} == {"image/svg+xml"}
    assert drawn[0].content != drawn[1].content
    assert all("sandbox" in response["Content-Security-Policy"] and b"<path" in response.content for response in drawn)
    assert browser.get(sheets[1].split("?")[0]).status_code == 404
    assert signed_in(staff()).get(sheets[1]).status_code == 403


@pytest.mark.slow
def test_files_of_an_archive_are_opened_in_place_and_recorded(browser: Client) -> None:
    listing = ListingFactory()
    contents: dict[str, bytes | str] = {
        "readme.txt": "<script>alert(1)</script>\u202e",
        "page.html": "<script>alert(2)</script>",
        "font.otf": makers.font(),
        "picture.png": makers.picture(),
        "sound.wav": makers.sound("WAV"),
        "program.exe": b"MZ\0\0" * 20,
    }
    attach(listing, makers.zipped(contents))
    file = Deliverable.objects.get(listing=listing)
    for path, kind in (
        ("readme.txt", "pre"),
        ("page.html", "pre"),
        ("font.otf", ".specimen"),
        ("picture.png", "img"),
        ("sound.wav", "audio"),
    ):
        page = BeautifulSoup(browser.get(entry(file, path=path)).content, "html.parser")
        assert page.select_one(f"#content {kind}"), path
        assert not [script for script in page.select("script") if "alert" in script.get_text()]
    assert "[U+202E]" in browser.get(entry(file, path="readme.txt")).content.decode()
    assert AuditEntry.objects.filter(action="deliverable.open_entry", subject_id=str(file.pk)).count() == 6
    types = {"picture.png": "image/webp", "sound.wav": "audio/wav"}
    for path, content_type in types.items():
        served = browser.get(entry(file, "admin-file-entry-content", path=path))
        assert (served["Content-Type"], served["X-Content-Type-Options"]) == (content_type, "nosniff")
        assert served["Content-Security-Policy"].startswith("default-src 'none'")
    # A text is part of a page of ours, and never a document of its own.
    assert browser.get(entry(file, "admin-file-entry-content", path="page.html")).status_code == 404
    assert browser.get(entry(file, path="program.exe")).status_code == 415
    assert browser.get(entry(file, path="missing.txt")).status_code == 415


def test_staff_without_the_permission_cannot_open_files_of_an_archive() -> None:
    listing, client = ListingFactory(), signed_in(staff("catalog.view_deliverable"))
    attach(listing, makers.archive(a_txt="1"))
    file = Deliverable.objects.get(listing=listing)
    for name in ("admin-file-entry", "admin-file-entry-content", "admin-file-entry-font", "admin-file-glyphs"):
        assert client.get(entry(file, name, path="a.txt", glyph="A")).status_code == 403, name
    assert not AuditEntry.objects.filter(action="deliverable.open_entry").exists()


@pytest.mark.slow
def test_replaced_picture_is_kept_for_the_comparison_and_no_longer(browser: Client) -> None:
    listing = ListingFactory()
    attach(listing, makers.archive(a_txt="1"))

    def show(colour: str) -> None:
        processed = ProcessedPreview(makers.picture(kind="WEBP", colour=colour), "image/webp", {}, {})
        attach_preview(listing=listing, kind=PreviewKind.GALLERY, slot=1, processed=processed, actor=listing.store.owner)

    show("red")
    show("green")
    assert not FormerPreview.objects.exists()
    services.approve_listing(review=submit(listing), actor=UserFactory())
    show("blue")
    attach(Listing.objects.get(pk=listing.pk), makers.archive(a_txt="2"))
    review = submit(listing)
    before, after = [str(image["src"]) for image in section(browser, review).select(".picture-change img")]
    assert browser.get(before).status_code == 200
    assert b"".join(browser.get(before)) != b"".join(browser.get(after))
    assert signed_in(staff()).get(before).status_code == 403
    kept = FormerPreview.objects.get()
    assert kept.object_key not in set(find_orphans(lambda _count: None, age=-timedelta(days=1)))
    services.approve_listing(review=review, actor=UserFactory())
    show("black")
    assert FormerPreview.objects.get().sha256 != kept.sha256


@pytest.mark.slow
def test_picture_replaced_while_an_update_waits_is_kept_for_the_next_comparison(browser: Client) -> None:
    listing = ListingFactory()
    attach(listing, makers.archive(a_txt="1"))
    services.approve_listing(review=submit(listing), actor=UserFactory())
    submitted = show(listing, content=makers.picture(kind="WEBP", colour="red"))
    attach(Listing.objects.get(pk=listing.pk), makers.archive(a_txt="2"))
    review = submit(listing)
    show(listing, content=makers.picture(kind="WEBP", colour="green"))
    services.approve_listing(review=review, actor=UserFactory())
    assert FormerPreview.objects.get().sha256 == submitted.sha256


@pytest.mark.parametrize("name", ["admin-file-entry", "admin-file-glyphs"])
def test_file_that_its_vendor_replaces_while_a_reviewer_opens_it_is_not_found(
    browser: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    listing = ListingFactory()
    attach(listing, makers.archive(a_txt="1"))
    file = Deliverable.objects.get(listing=listing)
    read = LocalStorage.read

    def replaced(store: LocalStorage, *words: Any) -> Any:
        Listing.objects.filter(pk=listing.pk).update(candidate_deliverable=None)
        Deliverable.objects.filter(pk=file.pk).delete()
        store.delete(file.object_key)
        return read(store, *words)

    monkeypatch.setattr(LocalStorage, "read", replaced)
    assert browser.get(entry(file, name, path="a.txt", glyph="A")).status_code == 404


@pytest.mark.slow
def test_form_with_errors_is_shown_on_the_page_of_the_review(browser: Client) -> None:
    review = waiting_update(changes()[3])
    response = browser.post(
        address(ListingReview, "reject", review.pk), {"note": "Kept words", "other_field_0": "title", "category": "fonts"}
    )
    page = BeautifulSoup(response.content, "html.parser")
    assert response.status_code == 400
    assert page.select_one("#subject-changes")
    assert page.select_one("#decide-reject [role=alert]")
    assert "Kept words" in page.select("#decide-reject textarea")[0].get_text()
    review.refresh_from_db()
    assert review.status == "Pending"
