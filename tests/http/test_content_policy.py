"""The policy that pages carry."""

from django.test import Client

from marketplace.http.pages import PAGE_POLICY


def test_page_allows_nothing_inline_and_nothing_from_elsewhere(client: Client) -> None:
    policy = client.get("/docs").headers["Content-Security-Policy"]
    assert policy == PAGE_POLICY
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy


def test_page_of_an_error_has_the_policy_too(client: Client) -> None:
    assert client.get("/nothing").headers["Content-Security-Policy"] == PAGE_POLICY


def test_responses_that_are_no_pages_have_none(client: Client) -> None:
    assert "Content-Security-Policy" not in client.get("/robots.txt").headers
