"""Listings and buyers of the load benchmark; runs in the environment of the nodes."""

from typing import Any

from catalog.models import Listing
from developers.services.credentials import issue_api_key
from tests.callers import bearer, personal_token
from tests.factories import AppFactory
from tests.shop import archive, bought, funded, on_sale, store_keeping, tiers

BUYERS = 20
OWN = 20
ASSETS = 2_000


def make_shop() -> dict[str, Any]:
    """Make a vendor with listings, and buyers with keys and money who own the first of them."""
    tiers()
    store = store_keeping(2000)
    own = [on_sale(archive(str(number)), store=store) for number in range(OWN)]
    buyers = []
    for number in range(BUYERS):
        buyer = funded(inr=10**10, email=f"buyer{number}@example.com")
        bought(own[0], buyer)
        buyers.append({"key": issue_api_key(app=AppFactory(user=buyer), name="load", actor=buyer)[1]})
    others = Listing.objects.filter(status="Published", tier_requirement="free").exclude(pk=own[0].pk)
    return {
        "buyers": buyers,
        "owned": str(own[0].pk),
        "own": [str(listing.pk) for listing in own[1:]],
        "assets": [str(pk) for pk in others.values_list("pk", flat=True)[:ASSETS]],
        "vendor": bearer(personal_token(store.owner)[1]),
    }
