"""The policy that pages carry."""

from django.test import Client

from marketplace.http.pages import PAGE_POLICY


def test_pages_and_error_pages_have_a_policy_that_allows_no_inline_or_external_resources_and_nothing_else_has_it(client: Client) -> None:
    assert client.get("/docs").headers["Content-Security-Policy"] == PAGE_POLICY
    assert client.get("/nothing").headers["Content-Security-Policy"] == PAGE_POLICY
    assert "Content-Security-Policy" not in client.get("/robots.txt").headers
    assert "default-src 'self'" in PAGE_POLICY
    assert [word for word in ("unsafe", "*", "http") if word in PAGE_POLICY] == []
