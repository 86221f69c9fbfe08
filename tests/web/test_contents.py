"""What a listing's page shows of its file: the public part of a skill, and the files of an archive."""

from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.test import Client
from django.urls import reverse

from catalog.models import Deliverable, FileFacts, Listing
from marketplace.accounts.models import Tier
from tests.factories import PreviewFactory
from tests.shop import bought, funded, on_sale

from .markup import soup

pytestmark = pytest.mark.django_db
TEXT = "# Editor\n\nTurns commits\ninto <script>alert(1)</script> notes: **secret steps**.\n\n```\n# no heading\n```\n\n## Limits\n"
SKILL = {"path": "SKILL.md", "name": "editor", "description": "Writes <b>notes</b>.", "text": TEXT, "truncated": False}


def page_of(client: Client, listing: Listing) -> BeautifulSoup:
    return soup(client.get(reverse("asset-page", args=[listing.slug])))


def with_file(listing: Listing, **fields: Any) -> Listing:
    file = listing.approved_deliverable
    assert file is not None
    fields["technical"] = file.technical | fields.get("technical", {})
    Deliverable.objects.filter(pk=file.pk).update(**fields)
    return listing


def skill_section(page: BeautifulSoup) -> Tag:
    section = page.select_one("section[aria-labelledby=skill]")
    assert section is not None
    return section


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [{}, {"discount_bp": 10_000}, {"base_price_minor": 0, "price_inr_minor": 0, "tier_requirement": Tier.PRO}],
    ids=["sold", "free for a while", "for some accounts"],
)
def test_text_of_a_skill_that_is_not_free_for_everyone_is_not_shown(
    client: Client, browse: Callable[..., Client], fields: dict[str, Any]
) -> None:
    listing = with_file(on_sale(**fields), technical={"skill": SKILL})
    for viewer in (client, browse(listing.store.owner)):
        page = page_of(viewer, listing)
        section = skill_section(page)
        assert "Writes <b>notes</b>." in section.get_text()
        assert [item.get_text() for item in section.select("li")] == ["Editor", "Limits"]
        assert "secret steps" not in str(page)


def test_text_of_a_free_skill_is_shown_whole_and_harmless(client: Client) -> None:
    listing = with_file(on_sale(base_price_minor=0, price_inr_minor=0), technical={"skill": SKILL | {"truncated": True}})
    section = skill_section(page_of(client, listing))
    assert section.select("details strong")[0].get_text() == "secret steps"
    assert [heading.get_text() for heading in section.select("details :is(h3, h4)")] == ["Editor", "Limits"]
    assert section.select("script, details br") == []
    assert "in the download" in section.get_text()


@pytest.mark.slow
def test_tools_and_hosts_of_a_skill_are_those_that_the_inspection_of_its_file_recorded(client: Client) -> None:
    listing = with_file(on_sale(), technical={"skill": SKILL})
    file = listing.approved_deliverable
    assert file is not None

    def shown() -> dict[str, list[str]]:
        values = {name.get_text(): name.find_next_sibling("dd") for name in skill_section(page_of(client, listing)).select("dt")}
        return {name: [code.get_text() for code in value.select("code")] for name, value in values.items() if isinstance(value, Tag)}

    FileFacts.objects.create(listing=listing, sha256="0" * 64, facts={"tools": ["Other"], "hosts": {"other.example": []}})
    assert not shown().keys() & {"Tools that it asks for", "Hosts that it names", "Scripts"}
    facts = {"tools": ["<i>Read</i>"], "hosts": {"b.example": ["x.py"], "a.example": ["SKILL.md"]}, "scripts": {"x.py": ["extension"]}}
    FileFacts.objects.create(listing=listing, sha256=file.sha256, facts=facts)
    found = shown()
    assert (found["Tools that it asks for"], found["Hosts that it names"]) == (["<i>Read</i>"], ["a.example", "b.example"])
    assert found["Scripts"] == ["x.py"]
    FileFacts.objects.filter(sha256=file.sha256).update(facts={"tools": []})
    # That it names none is told.
    assert (shown()["Tools that it asks for"], shown()["Hosts that it names"]) == ([], [])


def tree(part: Tag) -> list[Any]:
    listed: list[Any] = []
    for item in part.find_all("li", recursive=False):
        inner = item.select_one("ul")
        name = next((item.select_one("summary") or item).strings).strip()
        listed.append(name if inner is None else (name, tree(inner)))
    return listed


@pytest.mark.slow
def test_files_of_an_archive_are_a_tree_with_sizes(client: Client) -> None:
    paths = [["b/inner/x.otf", 2048], ["README.txt", 10], ["b/a.otf", 1024], ["/../odd//name<b>.ttf", 3], ["", 0]]
    listing = with_file(on_sale(), entries=paths, technical={"contentsByExtension": {"otf": 2, "": 3}})
    page = page_of(client, listing)
    assert tree(page.select(".files-tree")[0]) == [
        ("../", [("odd/", ["name<b>.ttf"])]),
        ("b/", [("inner/", ["x.otf"]), "a.otf"]),
        "",
        "README.txt",
    ]
    summaries = [" ".join(summary.get_text().split()) for summary in page.select(".folded summary")]
    assert "Files in the archive: 5" in summaries
    assert any(text.startswith("b/ 2 files, 3.0") for text in summaries)
    assert page.select("details[open]") == []


@pytest.mark.slow
def test_tree_of_a_large_archive_is_bounded_in_length_and_depth(client: Client) -> None:
    paths = [["/".join(f"d{number}-{level}" for level in range(60)), 1] for number in range(500)]
    listing = with_file(on_sale(), entries=paths, technical={"contentsByExtension": {"": 90_000}})
    page = page_of(client, listing)
    assert "Files in the archive: 90,000" in page.get_text()
    assert "The first 300 are listed." in page.get_text()
    assert len(page.select(".files-tree li li li li li li")) == 300
    assert page.select(".files-tree li li li li li li li") == []


@pytest.mark.slow
def test_listing_page_with_skill_and_file_tree_sends_few_queries(
    browse: Callable[..., Client], django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    listing = with_file(on_sale(), technical={"skill": SKILL}, entries=[["SKILL.md", 1]])
    buyer = funded(inr=1_000_000)
    bought(listing, buyer)
    client = browse(buyer)
    page_of(client, listing)
    with django_assert_max_num_queries(9):
        page_of(client, listing)


def test_sound_is_played_from_its_preview_and_the_tracks_for_sale_are_only_named(client: Client) -> None:
    members = [{"path": f"loops/0{number}<b>.wav", "sampleRate": 44_100, "durationSeconds": 61.6 * number} for number in (2, 1)]
    listing = with_file(on_sale(), technical={"members": [*members, {"path": "cover.png", "width": 2}]})
    details = {"durationSeconds": 125.2, "format": "mp3", "peaks": [0, 50, 100]}
    preview = PreviewFactory(listing=listing, kind="AudioPreview", content_type="audio/mpeg", details=details)
    page = page_of(client, listing)
    assert [sound["src"] for sound in page.select("audio, source")] == [preview.url]
    assert [" ".join(track.get_text().split()) for track in page.select(".tracks li")] == ["loops/01<b>.wav 1:02", "loops/02<b>.wav 2:03"]
    assert str(page.select(".waveform path")[0]["d"]).count("M") == 3
    assert page.select("a[href^='/api/v1/previews']") == []
