"""Purchases for someone else, and the links that licensees get."""

import re

from catalog.models import Listing
from library.licensees import Licensee
from library.models import Licence
from library.services.claims import claim_licence
from marketplace.accounts.models import User
from tests.eager import sent_mails
from tests.shop import bought
from wallet.models import Order

CLIENT = Licensee("Client GmbH", "fonts@client.example")
LINK = re.compile(r"http://testserver(/licences/claim/([A-Za-z0-9_-]+))")


def bought_for(listing: Listing, buyer: User | None = None, licensee: Licensee = CLIENT, **choices: str) -> Order:
    return bought(listing, buyer, licensee=licensee, **choices)


def secret_sent(licensee: Licensee = CLIENT) -> str:
    letters = [letter for letter in sent_mails() if letter.to == [licensee.email]]
    found = LINK.search(str(letters[-1].body))
    assert found is not None
    return found[2]


def claimed(order: Order, claimant: User, licensee: Licensee = CLIENT) -> Licence:
    licence = claim_licence(secret=secret_sent(licensee), actor=claimant)
    assert licence.order_id == order.pk
    return licence
