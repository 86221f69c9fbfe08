"""What buyers and vendors are told of a dispute, of an upgrade and of its refund."""

import pytest

from marketplace.accounts.mail_preferences import set_mail_topics
from marketplace.accounts.models import User
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def told(user: User, words: str) -> list[str]:
    """Return the bodies of the mails to a user whose subject has these words."""
    return [str(message.body) for message in sent_mails() if message.to == [user.email] and words in str(message.subject)]


def test_vendor_is_mailed_about_a_withheld_share_unless_unsubscribed() -> None:
    top_up = paid_top_up(amount_minor=99_800)
    orders = [bought(on_sale(title=title), top_up.user) for title in ("Aurora", "Borealis")]
    first, second = (order.listing.store.owner for order in orders)
    set_mail_topics(user=second, topics=[], actor=second)
    deliver_event(top_up, EventKind.DISPUTED)
    (body,) = told(first, "withheld")
    assert "399.20" in body
    assert told(second, "withheld") == []


@pytest.mark.parametrize(
    ("end", "subject", "words"),
    [
        (EventKind.DISPUTE_WON, "in your earnings again", "In your earnings again: ₹399.20"),
        (EventKind.DISPUTE_LOST, "went back to a card", "the purchases ended: ₹399.20"),
    ],
)
def test_vendor_is_told_what_became_of_a_withheld_share(end: EventKind, subject: str, words: str) -> None:
    top_up = paid_top_up(amount_minor=49_900)
    vendor = bought(on_sale(title="Aurora"), top_up.user).listing.store.owner
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, end)
    (body,) = told(vendor, subject)
    assert words in body


@pytest.mark.parametrize(
    ("events", "subject"),
    [((EventKind.DISPUTED, EventKind.DISPUTE_LOST), "went back to its card"), ((EventKind.REFUNDED,), "on its way back to your card")],
)
def test_mail_about_a_returned_payment_names_the_ended_licences(events: tuple[EventKind, ...], subject: str) -> None:
    top_up = paid_top_up(amount_minor=49_900)
    bought(on_sale(title="Aurora"), top_up.user)
    for event in events:
        deliver_event(top_up, event)
    (body,) = told(top_up.user, subject)
    assert "Aurora: your Personal licence ended" in body


def test_mail_about_a_lost_dispute_names_both_licences_of_an_upgrade() -> None:
    top_up = paid_top_up(amount_minor=99_800)
    first = bought(on_sale(title="Aurora"), top_up.user)
    bought(first.listing, top_up.user, license_slug="commercial", upgrade_from="personal")
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    (body,) = told(top_up.user, "went back to its card")
    assert "your Commercial licence ended, and your Personal licence ended, too" in body


def test_mails_name_the_licence_that_an_upgrade_replaces_and_its_refund_restores() -> None:
    first = bought(on_sale(title="Aurora"), funded(inr=100_000))
    second = bought(first.listing, first.buyer, license_slug="commercial", upgrade_from="personal")
    assert "It replaces your Personal licence" in told(first.buyer, "is yours")[-1]
    refund_order(order=second, reason="test", actor=UserFactory(is_staff=True))
    assert "your Personal licence is as it was before the upgrade" in told(first.buyer, "refunded")[-1]
