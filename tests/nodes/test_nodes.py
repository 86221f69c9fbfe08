"""Two nodes and a worker: one journey over both, one of them killed in the middle, and the same answers everywhere."""

import re
from typing import Any

import pytest

from ..flows import journey
from ..flows.journey import Caller
from ..flows.person import Person
from ..flows.server import ADMIN
from ..outages import measure
from ..waiting import PATIENCE_SECONDS, until
from .balancer import BASE_URL
from .deployment import Deployment

pytestmark = [pytest.mark.s3, pytest.mark.full]

API = f"{BASE_URL}/api/v1"


def test_journey_over_two_nodes_survives_the_death_of_one_and_the_rest_is_told_the_same(deployment: Deployment) -> None:
    admin = Person(deployment, *ADMIN)
    admin.sign_in("/admin/")
    buyer = journey.developer_gets_a_key(deployment, admin)
    vendor = journey.vendor_gets_a_store(deployment, admin)
    asset_id = journey.vendor_lists_the_family(vendor)
    assert {*deployment.balancer.served} == {*deployment.addresses}
    journey.editors_reject_then_approve(deployment, admin, vendor, asset_id)
    every_node_answers_the_same(deployment, vendor, buyer, asset_id)

    deployment.nodes[0].kill()
    journey.buyer_finds_buys_and_downloads(deployment, admin, buyer, asset_id)
    journey.link_works_without_a_credential(deployment, buyer, asset_id)

    deployment.start(0)
    link = buyer.ask("POST", f"library/download/{asset_id}")["downloadUrl"]
    assert [deployment.session_at(node).get(link, timeout=PATIENCE_SECONDS).status_code for node in (0, 1)] == [200, 200]
    admin.decide("wallet/order/", "Roboto Grotesque Family", "refund", {"reason": "Bought twice."})
    assert [deployment.session_at(node).get(link, timeout=PATIENCE_SECONDS).status_code for node in (0, 1)] == [410, 410]
    assert buyer.ask("GET", "library")["ownedCount"] == 0
    deployment.manage("reconcile")


def every_node_answers_the_same(deployment: Deployment, vendor: Caller, buyer: Caller, asset_id: str) -> None:
    """Look at both nodes: answers, their tags, news and counters are those of all."""
    address = f"{API}/assets/{asset_id}"
    first, second = (deployment.session_at(node).get(address, timeout=PATIENCE_SECONDS) for node in (0, 1))
    assert (first.content, first.headers["ETag"]) == (second.content, second.headers["ETag"])
    assert (
        deployment.session_at(1).get(address, headers={"If-None-Match": first.headers["ETag"]}, timeout=PATIENCE_SECONDS).status_code == 304
    )
    # What one node was told, the other shows at once.
    for node, price in ((0, 2100), (1, 1999)):
        headers = {"Authorization": vendor.session.headers["Authorization"]}
        changed = deployment.session_at(node).patch(
            f"{API}/vendor/assets/{asset_id}/regional-prices", json={"priceInr": price}, headers=headers, timeout=PATIENCE_SECONDS
        )
        assert changed.status_code == 200, changed.text
        shown = deployment.session_at(1 - node).get(address, timeout=PATIENCE_SECONDS)
        assert shown.json()["priceINR"] == price
        assert shown.headers["ETag"] != first.headers["ETag"] or price == 1999
    calls_are_counted_together(deployment, buyer)


def calls_are_counted_together(deployment: Deployment, buyer: Caller) -> None:
    """Call the nodes in turn with one key: all calls of a minute have each a number of their own."""
    key = {"X-Api-Key": buyer.session.headers["X-Api-Key"]}

    def in_one_minute() -> list[int]:
        left = []
        for node in (0, 1, 0, 1):
            answer = deployment.session_at(node).get(f"{API}/library", headers=key, timeout=PATIENCE_SECONDS)
            left.append([int(number) for number in re.findall(r"[rt]=(\d+)", answer.headers["RateLimit"])])
        # In a new minute there is more time left than before.
        seconds = [number for _, number in left]
        return [number for number, _ in left] if seconds == sorted(seconds, reverse=True) else []

    first, *others = until(in_one_minute, "four calls in one minute")
    assert [first - number for number in others] == [1, 2, 3]


def test_killed_worker_delays_mails_and_loses_nothing(deployment: Deployment, shops: Any) -> None:
    table = measure(deployment, shops["caller"], only="worker")
    assert table["worker"].pop("Sign up") == "yes, mail is sent later"
    assert set(table["worker"].values()) == {"yes"}
