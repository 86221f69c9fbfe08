"""The documentation: every page is whole, its links lead somewhere, what it says of the service is true."""

import re
from dataclasses import replace
from functools import cache

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.test import Client

from catalog.filters import ListingFilter
from marketplace.core.errors import all_problems
from marketplace.web import docs
from marketplace.web.docs.rendering import rendered
from marketplace.web.docs.values import filled_in

from .markup import faults_of

SLUGS = list(docs.documents())
# Pages for people who are signed in: they lead to the sign-in.
SIGN_IN = 302


def _ids(page: BeautifulSoup) -> set[str]:
    return {str(element["id"]) for element in page.find_all(id=True)}


@cache
def _target(path: str) -> tuple[int, set[str]]:
    """Return the status of a page for everyone, and the ids on it: many pages link to the same ones."""
    response = Client().get(path)
    return response.status_code, _ids(BeautifulSoup(response.content, "html.parser"))


def _page(client: Client, slug: str) -> BeautifulSoup:
    return BeautifulSoup(client.get(f"/docs/{slug}").content, "html.parser")


@pytest.mark.parametrize("slug", SLUGS)
def test_documentation_page_is_whole(client: Client, slug: str) -> None:
    page = docs.documents()[slug]
    assert "{{" not in page.text
    assert faults_of(client.get(f"/docs/{slug}").content) == []
    styles = (settings.BASE_DIR / "templates/static/css/components.css").read_text("utf-8")
    for tabs in BeautifulSoup(page.html_and_headings[0], "html.parser").select(".tabs"):
        count = len(tabs.select("label"))
        assert len(tabs.select(".tab")) == count
        assert f"label:nth-of-type({count}) input:checked) .tab:nth-of-type({count})" in styles


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("slug", SLUGS)
def test_links_of_a_documentation_page_resolve(client: Client, slug: str) -> None:
    page = _page(client, slug)
    for link in page.select("main a[href]"):
        path, _, anchor = str(link["href"]).partition("#")
        if path.startswith("http"):
            continue
        status, ids = _target(path) if path else (200, _ids(page))
        assert status in {200, SIGN_IN}, link
        assert not anchor or anchor in ids, link


def test_unknown_placeholder_in_the_documentation_raises_an_error() -> None:
    with pytest.raises(KeyError):
        filled_in("It is {{no_such_value}}.")


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/nothing.md", "/docs/../settings", "/docs/Quick_Start%00", "/docs/api/nothing"])
def test_unknown_page_is_not_found(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_documentation_index_links_to_every_page(client: Client) -> None:
    text = client.get("/docs").content.decode()
    assert all(f'"/docs/{slug}"' in text for slug in SLUGS)


def test_errors_page_lists_every_problem_code(client: Client) -> None:
    codes = {code.get_text() for code in _page(client, "errors").select("td a code")}
    assert codes == set(all_problems())


def test_limits_are_those_of_the_service() -> None:
    page = docs.documents()["rate-limits"]
    # A copy: the page is rendered once in a process, maybe while another test had other limits.
    cells = {cell.get_text() for cell in BeautifulSoup(replace(page).html_and_headings[0], "html.parser").select("td:last-child")}
    assert {str(settings.RATE_LIMITS[name]) for name in ("api_key", "bearer_app", "bearer_user", "anonymous")} <= cells


def test_filters_that_the_quick_start_lists_are_those_of_the_catalog() -> None:
    source = docs.documents()["quick-start"].source
    (sentence,) = re.findall(r"take the same filters: (.*?)\.", source)
    assert set(re.findall(r"`(\w+)`", sentence)) == {*ListingFilter.base_filters}


def test_html_and_script_links_in_documentation_texts_are_escaped() -> None:
    html, headings = rendered("## A <script>alert(1)</script>\n\n<b>x</b> [y](javascript:alert(1))\n\n```html\n<img onerror=x>\n```\n")
    assert not re.search(r"<(script|b|img)\b", html)
    assert "javascript:" not in str(BeautifulSoup(html, "html.parser").select("a[href]"))
    assert headings[0].level == 2


def test_headings_of_the_same_words_have_anchors_of_their_own() -> None:
    html, headings = rendered("## Same\n\n## Same\n\n### !\n")
    assert [heading.anchor for heading in headings] == ["same", "same-more", "part"]
    assert all(f'id="{heading.anchor}"' in html for heading in headings)


def test_code_block_in_an_unknown_language_is_not_highlighted() -> None:
    html, _ = rendered("```klingon\n<Qapla'>\n```\n")
    assert "&lt;Qapla" in html
