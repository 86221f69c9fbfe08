"""Fixtures of the catalog's tests."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from catalog.catalog_version import current_version

API = "/api/v1"


@pytest.fixture
def get(anonymous: APIClient) -> Callable[..., Any]:
    """GET a public address and return its JSON."""

    def fetch(path: str, **query: Any) -> Any:
        response = anonymous.get(f"{API}/{path}", query)
        assert response.status_code == 200, response.content
        return response.json()

    return fetch


@pytest.fixture
def refused(anonymous: APIClient) -> Callable[..., list[tuple[str, str]]]:
    """GET a public address that must be refused as invalid; return pointer and code of each error."""

    def fetch(path: str, **query: Any) -> list[tuple[str, str]]:
        response = anonymous.get(f"{API}/{path}", query)
        assert response.status_code == 400, response.content
        assert response["Content-Type"] == "application/problem+json"
        problem = response.json()
        assert problem["code"] == "invalid_input"
        return [(error["pointer"], error["code"]) for error in problem["errors"]]

    return fetch


@pytest.fixture
def new_version(db: None) -> Callable[[], bool]:
    """Tell whether the catalog's version has changed since the last call."""
    last = current_version()

    def changed() -> bool:
        nonlocal last
        before, last = last, current_version()
        return before != last

    return changed
