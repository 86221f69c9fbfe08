"""The search in the documentation: guides, operations and error codes by their words."""

import pytest
from bs4 import BeautifulSoup, Tag
from django.test import Client

from marketplace.web.docs.searching import RESULTS, search_docs

from .markup import faults_of


def _links(client: Client, query: str) -> list[str]:
    page = BeautifulSoup(client.get("/docs", {"q": query}).content, "html.parser")
    return [str(link["href"]) for link in page.select(".found a")]


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("webhook signature", "/docs/webhooks#"),
        ("buyAsset", "/docs/api/buyAsset"),
        ("/api/v1/wallet/spend", "/docs/api/buyAsset"),
        ("insufficient_balance", "/problems/insufficient_balance"),
    ],
)
def test_search_finds_guides_operations_and_codes(client: Client, query: str, address: str) -> None:
    assert any(link.startswith(address) for link in _links(client, query)[:5]), _links(client, query)


@pytest.mark.slow
def test_documentation_search_result_links_to_the_matching_section(client: Client) -> None:
    links = list(_links(client, "quote guarantees"))
    assert any("#" in link for link in links)
    for link in links:
        path, _, anchor = link.partition("#")
        target = BeautifulSoup(client.get(path).content, "html.parser")
        assert not anchor or isinstance(target.find(id=anchor), Tag)


@pytest.mark.parametrize("query", ["zzqqxx", "quote zzqqxx", "()[", "\x00", "\\"])
def test_search_without_a_result_says_so(client: Client, query: str) -> None:
    response = client.get("/docs", {"q": query})
    assert response.status_code == 200
    assert faults_of(response.content) == []
    assert _links(client, query) == []
    assert b"Nothing found" in response.content


def test_search_shows_its_words_as_text_and_is_not_indexed(client: Client) -> None:
    response = client.get("/docs", {"q": "<b>wallet"})
    assert b"<b>wallet" not in response.content
    assert b'<meta name="robots" content="noindex">' in response.content
    assert b"noindex" not in client.get("/docs").content


def test_long_query_and_many_results_are_bounded() -> None:
    assert len(search_docs("a")) == RESULTS
    assert search_docs("wallet " * 100_000) == search_docs("wallet")
