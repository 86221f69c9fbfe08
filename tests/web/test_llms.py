"""What language models read first: in the form of llmstxt.org, with links that lead somewhere, and open to everyone."""

import re

import pytest
from django.conf import settings
from django.test import Client

from marketplace.web import docs

LINK = re.compile(r"- \[(?P<name>[^\]]+)\]\((?P<address>[^)]+)\): .+")


def test_llms_txt_has_the_format_of_the_convention(client: Client) -> None:
    response = client.get("/llms.txt")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    title, empty, summary, *rest = response.content.decode().splitlines()
    assert title == "# Creative Asset Marketplace"
    assert (empty, summary[:2]) == ("", "> ")
    sections = [line for line in rest if line.startswith("#")]
    assert sections == ["## Interfaces", "## Documentation", "## Optional"]
    listed = rest[rest.index("## Interfaces") :]
    assert all(not line or line.startswith("## ") or LINK.fullmatch(line) for line in listed)


@pytest.mark.django_db
def test_links_of_llms_txt_lead_to_machine_readable_pages(client: Client) -> None:
    links = {match["name"]: match["address"] for match in LINK.finditer(client.get("/llms.txt").content.decode())}
    assert {page.title for page in docs.documents().values()} <= links.keys()
    for name, address in links.items():
        assert address.startswith(f"{settings.BASE_URL}/")
        response = client.get(address.removeprefix(settings.BASE_URL))
        # The MCP server asks for a token first.
        assert response.status_code == (401 if name == "MCP server for AI assistants" else 200), name
        if name in {page.title for page in docs.documents().values()}:
            assert response["Content-Type"].startswith("text/markdown")
