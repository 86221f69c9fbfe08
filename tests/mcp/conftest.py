"""A server for clients of others, and something to buy."""

from pathlib import Path
from typing import Any

import pytest

from catalog.models import Listing
from tests.shop import archive, on_sale


@pytest.fixture
def address(live_server: Any, settings: Any, media: Path) -> str:
    """The address of the tools, under the name that everything is told."""
    settings.BASE_URL = live_server.url
    return f"{live_server.url}/mcp"


@pytest.fixture
def listing(db: None) -> Listing:
    """Something to buy whose file is there."""
    return on_sale(archive(), slug="harbor-grotesk", title="Harbor Grotesk", readme="# Harbor")
