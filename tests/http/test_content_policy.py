"""The policy that pages carry."""

from django.test import Client

from marketplace.http.pages import PAGE_POLICY


def test_content_security_policy_of_a_page_allows_no_inline_or_external_resources(client: Client) -> None:
    policy = client.get("/docs").headers["Content-Security-Policy"]
    assert policy == PAGE_POLICY
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy


def test_error_page_has_the_content_security_policy(client: Client) -> None:
    assert client.get("/nothing").headers["Content-Security-Policy"] == PAGE_POLICY


def test_responses_other_than_pages_have_no_content_security_policy(client: Client) -> None:
    assert "Content-Security-Policy" not in client.get("/robots.txt").headers
