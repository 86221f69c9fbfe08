"""A server for clients of others, and something to buy."""

from pathlib import Path

import pytest

from catalog.models import Listing
from tests.shop import archive, on_sale


@pytest.fixture
def address(site: str, media: Path) -> str:
    """The address of the tools, under the name that everything is told."""
    return f"{site}/mcp"


@pytest.fixture
def listing(db: None) -> Listing:
    """Something to buy whose file is there."""
    return on_sale(archive(), slug="harbor-grotesk", title="Harbor Grotesk", readme="# Harbor")
