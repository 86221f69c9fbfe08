"""Readers poll while a listing is published, edited and withdrawn: nobody ever sees what was already replaced when the request began.

Every state of the listing has a number. A reader notes the last state that was committed before its request and the last that
was begun after its answer; what it saw must be one of those between.
"""

import multiprocessing
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connections, transaction
from django.test import Client

from catalog.models import Listing
from catalog.services.review import approve_listing
from catalog.services.submission import unpublish_listing
from catalog.services.visibility import listing_changed
from tests.factories import PublishedListingFactory, UserFactory
from tests.waiting import PATIENCE_SECONDS

from .cases import open_review, submitted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full, pytest.mark.postgres]

READERS = 8
ROUNDS = 4
# What a state shows: the price in rupees, or that the listing is not for sale.
Shown = int | None
# The last state that was over before, the last that was begun after, and what was seen.
Sight = tuple[int, int, Shown]
fork = multiprocessing.get_context("fork")


class Clock:
    """How far the writer is, for every process to see."""

    def __init__(self) -> None:
        self.begun = fork.Value("i", 0)
        self.committed = fork.Value("i", 0)
        self.over = fork.Event()


def from_browse(client: Client, listing_id: str) -> Shown:
    items = client.get("/api/v1/assets").json()["items"]
    return next((int(item["priceINR"]) for item in items if item["id"] == listing_id), None)


def from_detail(client: Client, listing_id: str) -> Shown:
    answer = client.get(f"/api/v1/assets/{listing_id}")
    return int(answer.json()["priceINR"]) if answer.status_code == 200 else None


def poll(clock: Clock, listing_id: str, number: int) -> list[Sight]:
    """Look again and again until the writer is done."""
    look = (from_browse, from_detail)[number % 2]
    client, sights = Client(REMOTE_ADDR=f"192.0.2.{number}"), []
    while True:
        last = clock.over.is_set()
        before = clock.committed.value
        shown = look(client, listing_id)
        sights.append((before, clock.begun.value, shown))
        if last:
            return sights


def start_readers(clock: Clock, listing_id: str) -> Callable[[], list[Sight]]:
    queue: Any = fork.Queue()
    connections.close_all()
    caches.close_all()

    def read(number: int) -> None:
        queue.put(poll(clock, listing_id, number))
        connections.close_all()

    readers = [fork.Process(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()

    def finish() -> list[Sight]:
        sights = [sight for _ in readers for sight in queue.get(timeout=PATIENCE_SECONDS)]
        for reader in readers:
            reader.join()
        return sights

    return finish


def write(clock: Clock, listing: Listing) -> list[Shown]:
    """Take the listing through its states and return what each of them shows."""
    reviewer = UserFactory()
    states: list[Shown] = [100]

    def step(shown: Shown, change: Callable[[], object]) -> None:
        states.append(shown)
        clock.begun.value += 1
        change()
        clock.committed.value += 1

    def edit(price: int) -> None:
        with transaction.atomic():
            row = Listing.objects.select_for_update().get(pk=listing.pk)
            row.price_inr_minor = price * 100
            row.save()
            listing_changed(row)

    def publish(price: int) -> None:
        row = Listing.objects.get(pk=listing.pk)
        row.price_inr_minor = price * 100
        row.save()
        approve_listing(review=open_review(submitted(row)), actor=reviewer)

    for number in range(ROUNDS):
        price = 1000 * (number + 1)
        step(price + 1, partial(edit, price + 1))
        step(price + 2, partial(edit, price + 2))
        step(None, lambda: unpublish_listing(listing=listing, actor=listing.store.owner))
        step(price + 3, partial(publish, price + 3))
    return states


def race(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"anonymous": 1_000_000}
    listing = PublishedListingFactory(price_inr_minor=100_00)
    clock = Clock()
    finish = start_readers(clock, str(listing.pk))
    try:
        states = write(clock, listing)
    finally:
        clock.over.set()
        sights = finish()
    wrong = [(before, after, shown) for before, after, shown in sights if shown not in states[before : after + 1]]
    assert wrong == []
    # They did watch while it changed, and each of them saw the end.
    assert len({before for before, _, _ in sights}) > ROUNDS // 2
    assert len(sights) > READERS * 2


def test_no_process_gets_a_response_that_another_made_stale(settings: Any) -> None:
    race(settings)


def test_no_process_gets_a_stale_response_from_a_shared_cache(redis_cache: str, settings: Any) -> None:
    race(settings)
