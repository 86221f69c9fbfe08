"""The shipped nginx keeps public answers of the catalog for a few seconds, and nothing else; and readers and writers while servers fail."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import requests

from ..attack import production
from ..waiting import PATIENCE_SECONDS, until
from . import chaos
from .balancer import BASE_URL
from .deployment import Deployment
from .edge import Edge, at_the_edge

pytestmark = [pytest.mark.s3, pytest.mark.full]

API = f"{BASE_URL}/api/v1"
# Longer than unasked (`conftest.py`): a busy machine is slow between one request and the next.
SECONDS = 8
TAKEDOWN = """
import time
from catalog.models import Listing
from catalog.services.review import takedown_listing
from marketplace.accounts.models import User
takedown_listing(listing=Listing.objects.get(pk="{id}"), reason="It holds malware.", actor=User.objects.get(email="admin@example.com"))
print("at", time.time())
"""


@pytest.fixture(scope="module")
def edge(deployment: Deployment) -> Iterator[Edge]:
    with at_the_edge(deployment) as running:
        yield running


@pytest.fixture
def facts(shops: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return shops["reader"]


@pytest.fixture
def get(edge: Edge) -> Iterator[Callable[..., requests.Response]]:
    with edge.session() as session:
        # nginx leaves a node alone for a while that could not be reached.
        until(lambda: session.get(f"{API}/assets/nothing", timeout=PATIENCE_SECONDS).status_code == 404, "the nodes")
        yield lambda path, **headers: session.get(f"{API}/{path}", headers=headers, timeout=PATIENCE_SECONDS)


def test_cached_response_reaches_no_node_until_it_expires(edge: Edge, facts: Any, get: Any) -> None:
    paths = [f"assets/{facts['for_sale'][0]}", "assets?limit=7", "assets/search?q=owned", "categories", f"previews/{facts['preview']}"]
    first = {path: get(path) for path in paths}
    assert {answer.status_code for answer in first.values()} == {200}
    with edge.cut_off():
        for path in paths:
            again = get(path)
            assert (again.status_code, again.content, again.headers["ETag"]) == (200, first[path].content, first[path].headers["ETag"])
        assert get("assets?limit=8").status_code == 502
        # Rather nothing than what may have been taken away.
        time.sleep(SECONDS)
        assert {get(path).status_code for path in paths} == {502}
    until(lambda: get(paths[0]).status_code == 200, "the nodes")


def test_cached_response_has_the_headers_of_its_own_request_only(edge: Edge, facts: Any, get: Any) -> None:
    path = f"assets/{facts['for_sale'][1]}"
    miss = get(path)
    with edge.cut_off():
        hits = [get(path), get(path, **{"X-Request-Id": "given-by-me"}), get(path, **{"X-Request-Id": "not/good"})]
    assert {"RateLimit", "RateLimit-Policy", "X-Request-Id"} <= set(miss.headers)
    ids = {answer.headers["X-Request-Id"] for answer in (miss, *hits)}
    assert (len(ids), hits[1].headers["X-Request-Id"], "not/good" in ids) == (4, "given-by-me", False)
    for hit in hits:
        assert not {"RateLimit", "RateLimit-Policy", "X-Accel-Expires", "Set-Cookie"} & set(hit.headers)
        assert hit.headers["Cache-Control"] == f"public, max-age=0, s-maxage={SECONDS}"
        assert hit.headers["Access-Control-Allow-Origin"] == "*"


def test_responses_cached_by_the_proxy_do_not_count_against_rate_limits(facts: Any, get: Any) -> None:
    addresses = iter(facts["for_sale"][10:])

    def left_and_seconds() -> list[int]:
        # Nobody has asked for it before.
        return [int(number) for number in re.findall(r"[rt]=(\d+)", get(f"assets/{next(addresses)}").headers["RateLimit"])]

    def in_one_minute() -> list[int]:
        (before, seconds), hits = left_and_seconds(), [get("categories") for _ in range(5)]
        after, fewer_seconds = left_and_seconds()
        # In a new minute there is more time left than before. One may have been the first.
        counted = sum("RateLimit" in hit.headers for hit in hits)
        return [before - after - counted] if fewer_seconds <= seconds and counted < 3 else []

    assert until(in_one_minute, "calls in one minute") == [1]


def test_validators_and_ranges_work_on_cached_responses(edge: Edge, facts: Any, get: Any) -> None:
    path, preview = f"assets/{facts['for_sale'][3]}", f"previews/{facts['preview']}"
    first, whole = get(path, **{"Accept-Encoding": "identity"}), get(preview)
    etag, content = first.headers["ETag"], whole.content
    assert etag.startswith('"')
    zipped = get(path, **{"Accept-Encoding": "gzip"})
    with edge.cut_off():
        for given in (etag, f"W/{etag}", zipped.headers["ETag"]):
            assert get(path, **{"If-None-Match": given}).status_code == 304
        assert get(preview, **{"If-None-Match": whole.headers["ETag"]}).status_code == 304
        part = get(preview, Range="bytes=2-9")
        assert (part.status_code, part.content) == (206, content[2:10])
    # One that fails is explained by a node.
    refused = get(path, **{"If-Match": '"another"'})
    assert (refused.status_code, refused.headers["Content-Type"]) == (412, "application/problem+json")


def test_responses_that_depend_on_the_caller_are_neither_cached_nor_served_from_the_cache(edge: Edge, facts: Any, get: Any) -> None:
    callers = [{"X-Api-Key": facts["key"]}, facts["vendor"], {"Cookie": "sessionid=abcdefghijklmnopqrstuvwxyz012345"}]
    for number, caller in enumerate(callers):
        path = f"assets?limit={20 + number}"
        theirs = get(path, **caller)
        assert theirs.status_code == 200
        if "Cookie" not in caller:
            assert (theirs.headers["Cache-Control"], "anonymous" in theirs.headers["RateLimit"]) == ("private, no-cache", False)
        with edge.cut_off():
            assert get(path).status_code == 502
        until(partial(answers, get, path), "the nodes")
        with edge.cut_off():
            assert (get(path).status_code, get(path, **caller).status_code) == (200, 502)


def answers(get: Any, path: str) -> bool:
    return bool(get(path).status_code == 200)


def test_refusals_and_manifests_are_not_cached_by_the_proxy(edge: Edge, facts: Any, get: Any) -> None:
    manifest = f"assets/{facts['owned']}/manifest"
    asked: list[tuple[str, dict[str, str], int]] = [
        ("assets/nothing-like-it", {}, 404),
        ("assets?limit=none", {}, 400),
        (manifest, {"X-Api-Key": facts["key"]}, 200),
        (manifest, {}, 401),
        ("assets?limit=30", {"X-Api-Key": "cam_sk_wrong"}, 401),
        ("previews/01a202c0-0000-7000-8000-000000000000", {}, 404),
    ]
    until(lambda: get("categories").status_code == 200, "the nodes")
    for path, headers, status in asked:
        assert get(path, **headers).status_code == status
    with edge.cut_off():
        for path, headers, _ in asked:
            assert get(path, **headers).status_code == 502, path
            assert get(path).status_code == 502, path
    until(lambda: get("categories").status_code == 200, "the nodes")


def test_listing_taken_down_is_gone_from_the_proxy_within_the_cache_time(deployment: Deployment, facts: Any, get: Any) -> None:
    paths = [f"assets/{facts['owned']}", f"previews/{facts['preview']}"]
    until(lambda: [get(path).status_code for path in paths] == [200, 200], "both")
    keep = time.monotonic()
    said = deployment.manage("shell", "-v", "0", "-c", TAKEDOWN.format(id=facts["owned"]))
    at = time.monotonic() - (time.time() - float(said.split("at ")[-1]))
    assert at > keep
    assert show_later(lambda: [get(path).status_code for path in paths] == [404, 404], at)


def show_later(shown: Callable[[], bool], at: float) -> bool:
    """Ask until it shows; tell whether a request that began within the seconds after it, or the first after them, showed it."""
    while True:
        began = time.monotonic()
        with suppress(ValueError, KeyError):
            if shown():
                return True
        if began > at + SECONDS:
            return False
        time.sleep(0.05)


def test_attackers_who_send_forms_slowly_stop_nobody(deployment: Deployment, edge: Edge, shops: Any) -> None:
    shop = production.Scene(edge.proxy, shops["victim"], deployment.store)
    assert not production.measure(shop, production.ATTACKS["slow forms"], seconds=2).failed


def test_failing_redis_and_postgresql_cause_delays_and_no_wrong_responses(deployment: Deployment, edge: Edge, facts: Any) -> None:
    report = chaos.run(deployment, edge, facts, seconds=2, pause=0.2)
    assert report.faults() == []
    assert all(report.reads[phase] and report.changes[phase] for phase in chaos.PHASES)
