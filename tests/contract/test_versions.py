"""The version that responses name."""

import re

import pytest
from django.test import Client

from marketplace.api.versions import API_VERSION
from marketplace.web import docs


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/v1/categories", "/api/v1/orders", "/api/v1/nothing", "/api/v1/schema"])
def test_every_response_of_the_api_names_the_version(client: Client, path: str) -> None:
    assert client.get(path)["API-Version"] == API_VERSION


def test_api_version_is_the_newest_entry_of_the_changelog() -> None:
    page = docs.documents()["changelog"]
    entries = re.findall(r"^## (\d{4}-\d\d-\d\d)$", page.source, re.MULTILINE)
    assert entries == sorted(entries, reverse=True)
    assert entries[0] == API_VERSION
