"""Steps of random histories: buyers pay for clients, and the recipient of the link claims the licence."""

import datetime as dt
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from developers.secrets import digest_of
from library.bounds import CLAIM_LINK_DAYS
from library.licensees import Licensee
from library.models import Licence
from library.services.claims import claim_licence

from .base import BUYERS, KEYS, LISTINGS, THROUGH, TIERS, attempted
from .purchases import Buying, Owned

CLIENTS = st.sampled_from(["a@client.example", "b@client.example"])


class Claiming(Buying):
    """A licence for a client is the payer's purchase; its tier in the model has the client's address after it."""

    def __init__(self) -> None:
        super().__init__()
        # Which of the buyers claimed what.
        self.claims: dict[Owned, int] = {}

    def holds(self, buyer: int, listing: int, tier: str) -> bool:
        """Tell whether a buyer has bought or claimed a licence that stands."""
        claimed = [owned for owned, claimant in self.claims.items() if claimant == buyer and owned in self.expected.owned]
        return super().holds(buyer, listing, tier) or any((other, sold.split()[0]) == (listing, tier) for _, other, sold in claimed)

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, client=CLIENTS, key=KEYS, through=THROUGH)
    def buy_for_a_client(self, buyer: int, listing: int, tier: str, client: str, key: str | None, through: str) -> None:
        """Pay for a client, who may have the licence already from either buyer."""
        terms = self.terms[listing]
        price = terms.price(tier, "INR")
        sold = f"{tier} {client}"
        refusals = [
            *([] if terms.published else ["not_found"]),
            *(["already_owned"] if any((payer, listing, sold) in self.expected.owned for payer in (0, 1)) else []),
            *(["price_unavailable"] if price is None else []),
            *self.unaffordable(buyer, through, "INR", price or 0),
        ]
        done = self.attempt(
            buyer, (listing, tier, "INR"), None, key, through, price or 0, terms.tax(price or 0), refusals, licensee=Licensee("C", client)
        )
        if done:
            self.claims.pop((buyer, listing, sold), None)

    @rule(data=st.data(), claimant=BUYERS)
    def claim(self, data: st.DataObject, claimant: int) -> None:
        """Open a link, perhaps one that is used or too old, or of a licence that one has."""
        given = sorted(owned for owned in self.expected.owned if "@" in owned[2])
        if not given:
            return
        owned = data.draw(st.sampled_from(given))
        bought, holder = self.expected.owned[owned], self.claims.get(owned)
        refusal = ""
        if holder is None and self.now - bought.at >= dt.timedelta(days=CLAIM_LINK_DAYS):
            refusal = "claim_ended"
        elif holder is None and self.holds(claimant, owned[1], owned[2].split()[0]):
            refusal = "already_owned"
        elif holder not in {None, claimant}:
            refusal = "claim_ended"
        Licence.objects.filter(order_id=bought.order_id).update(claim_digest=digest_of(bought.order_id))
        _, met = attempted(lambda: claim_licence(secret=bought.order_id, actor=self.buyers[claimant]))
        self.counted("claim", met)
        assert met == refusal
        if not met:
            self.claims[owned] = claimant

    def compare(self) -> None:
        """Compare who holds what someone else paid for."""
        super().compare()
        claimed = {owned: claimant for owned, claimant in self.claims.items() if owned in self.expected.owned}
        live: Any = Licence.objects.filter(claimed_at__isnull=False, revoked_at__isnull=True).values_list("order_id", "holder_id")
        assert {str(order): holder for order, holder in live} == {
            self.expected.owned[owned].order_id: self.buyers[claimant].pk for owned, claimant in claimed.items()
        }
