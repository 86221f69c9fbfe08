"""Wishes with known answers, fulfilled over the tools by an agent without a model, in a shop with goods of the demo."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from developers.models import SpendingLimit
from marketplace.accounts.models import User
from marketplace.demo.entries import load_entries
from marketplace.demo.people import make_people
from marketplace.demo.shop import fill_shop
from tests.shop import funded
from wallet.models import Order

from .agent import Agent, Outcome, Wish
from .official_client import Person, connected
from .speaking import mcp_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]

# What the owner allows without being asked.
LIMIT = 600
NOTHING = "nothing fits"
GOODS = {
    *("hanken-grotesk", "bricolage-grotesque", "orbit-loaders"),
    *("release-notes-editor", "table-profiler", "type-scale-builder", "contrast-auditor"),
}
# Each wish, whether the owner allows what is above the limit, and what is bought or why nothing is.
TASKS: list[tuple[Wish, bool, tuple[str, str, float] | str]] = [
    (Wish("grotesk", "font", "client_work", 1000), True, ("bricolage-grotesque", "commercial", 898)),
    (Wish("grotesk", "font", "client_work", 850), True, NOTHING),
    (Wish("grotesk", "font", "personal", 500), True, ("bricolage-grotesque", "personal", 449)),
    (Wish("grotesk", "font", "ai_training", 1000), True, ("hanken-grotesk", "personal", 499)),
    (Wish("grotesk", "font", "redistribution", 10_000), True, NOTHING),
    (Wish("loaders", "motion", "web_traffic", 1300, quantity=500_000), True, ("orbit-loaders", "commercial", 1198)),
    (Wish("loaders", "motion", "web_traffic", 1300, quantity=500_000), False, "approval_declined"),
    (Wish("loaders", "motion", "web_traffic", 1300, quantity=5_000_000), True, NOTHING),
    (Wish("release notes", "skill", "commercial_project", 1200, as_skill=True), True, ("release-notes-editor", "commercial", 1198)),
    (Wish("release notes", "skill", "personal", 800, without_ai=True, as_skill=True), True, NOTHING),
    (Wish("csv profiler", "skill", "personal", 800, as_skill=True), True, ("table-profiler", "personal", 734.3)),
    (Wish("type scale", "skill", "client_work", 1, without_ai=True, as_skill=True), True, ("type-scale-builder", "commercial", 0)),
    (Wish("contrast", "skill", "personal", 3000, as_skill=True), True, "tier_required"),
]


@pytest.fixture
def shop(address: str, unlimited: None) -> str:
    """The address of a service with goods of the demo."""
    list(fill_shop([entry for entry in load_entries() if entry.slug in GOODS], make_people({}), until=timezone.now()))
    return address


async def fulfil(address: str, wish: Wish, owner: User, folder: Path, *, allows: bool) -> Outcome:
    """Let an agent that may spend up to the limit fulfil a wish for its owner."""

    def prepared() -> tuple[str, Person]:
        with closing(connection):
            _, secret, app = mcp_token(owner)
            SpendingLimit.objects.create(owner=owner, app=app, currency="INR", per_purchase_minor=LIMIT * 100, set_by=owner)
            return secret, Person(owner, address.removesuffix("/mcp"))

    secret, person = await asyncio.to_thread(prepared)

    async def decide(approval: str) -> None:
        assert wish.words in await person.decide(approval, allows=allows)

    async with connected(address, "auto", headers={"Authorization": f"Bearer {secret}"}) as client:
        return await Agent(client, folder, decide).fulfil(wish)


def test_each_wish_has_the_expected_outcome_within_its_budget(shop: str, tmp_path: Path) -> None:
    wrong = []
    for number, (wish, allows, expected) in enumerate(TASKS):
        owner = funded(inr=50_000_00)
        outcome = asyncio.run(fulfil(shop, wish, owner, tmp_path / f"{number}", allows=allows))
        orders = Order.objects.filter(buyer=owner)
        assert sum(order.price_minor for order in orders) == round(outcome.paid * 100) <= wish.budget * 100
        found = outcome.reason or (outcome.slug, outcome.license_slug, outcome.paid)
        if found != expected or len(orders) != bool(outcome.slug) or bool(outcome.installed) != bool(outcome.slug):
            wrong.append((wish, expected, outcome))
        written = {path.name for path in (tmp_path / f"{number}").rglob("*") if path.is_file()}
        if outcome.slug and ("SKILL.md" if wish.as_skill else "LICENSE.txt") not in written:
            wrong.append((wish, expected, outcome))
    assert wrong == []
