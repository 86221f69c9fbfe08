"""A shop with something to sell, buyers with keys and money, and a vendor."""

from typing import Any

from benchmarks.catalog.servers import seed
from tests.nodes.deployment import Deployment
from tests.servers.process import call_in


def make_scene(deployment: Deployment, *, listings: int) -> dict[str, Any]:
    """Fill the shop; return the addresses and credentials that the Locust users need."""
    seed(deployment.env, listings, "--yes")
    facts: dict[str, Any] = call_in(deployment.env, "benchmarks.load.shop.make_shop")
    return facts | {"nodes": deployment.addresses}
