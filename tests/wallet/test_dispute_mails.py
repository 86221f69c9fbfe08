"""What buyers and vendors are told of a dispute, of an upgrade and of its refund."""

import pytest

from marketplace.accounts.mail_preferences import set_mail_topics
from marketplace.accounts.models import User
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import TopUp
from wallet.models.top_ups import EventKind
from wallet.services.refunds import refund_order

from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def told(user: User, words: str) -> list[str]:
    return [str(message.body) for message in sent_mails() if message.to == [user.email] and words in str(message.subject)]


def sold_by_card() -> tuple[TopUp, User]:
    top_up = paid_top_up(amount_minor=49_900)
    return top_up, bought(on_sale(title="Aurora"), top_up.user).listing.store.owner


@pytest.mark.parametrize(
    ("end", "buyers", "vendors", "words"),
    [
        (EventKind.DISPUTE_WON, "is over", "in your earnings again", "In your earnings again: ₹399.20"),
        (EventKind.DISPUTE_LOST, "went back to its card", "went back to a card", "the purchases ended: ₹399.20"),
    ],
)
def test_buyer_and_vendor_are_told_of_a_dispute_and_its_end_and_an_unsubscribed_or_inactive_vendor_of_neither(
    end: EventKind, buyers: str, vendors: str, words: str
) -> None:
    top_up = paid_top_up(amount_minor=3 * 49_900)
    told_vendor, unsubscribed, inactive = (bought(on_sale(), top_up.user).listing.store.owner for _ in range(3))
    set_mail_topics(user=unsubscribed, topics=[])
    User.objects.filter(pk=inactive.pk).update(is_active=False)
    deliver_event(top_up, EventKind.DISPUTED)
    assert len(told(top_up.user, "Your bank disputes")) == 1
    (body,) = told(told_vendor, "withheld")
    assert "399.20" in body
    deliver_event(top_up, end)
    assert len(told(top_up.user, buyers)) == 1
    (body,) = told(told_vendor, vendors)
    assert words in body
    for other in (unsubscribed, inactive):
        assert told(other, "withheld") == told(other, "earnings") == []


def test_vendor_is_told_what_was_taken_of_a_share_and_what_was_released() -> None:
    top_up, vendor = sold_by_card()
    for event in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, event, amount_minor=30_000)
    (body,) = told(vendor, "₹300.00 of your earnings went back to a card")
    assert "the purchases ended: ₹300.00" in body
    assert "In your earnings again: ₹99.20" in body


@pytest.mark.parametrize(
    ("end", "subject"),
    [
        (EventKind.DISPUTE_WON, "₹399.20 is in your earnings again"),
        (EventKind.DISPUTE_LOST, "₹149.70 of your earnings went back to a card"),
    ],
)
def test_vendor_whose_share_another_dispute_withholds_again_is_told_once_both_have_ended(end: EventKind, subject: str) -> None:
    bought(on_sale())
    user = UserFactory()
    top_ups = [paid_top_up(user, 24_950), paid_top_up(user, 24_950)]
    vendor = bought(on_sale(title="Aurora"), user).listing.store.owner
    # Three tenths each: the second suspends the purchase, and is lost first.
    for index, top_up in enumerate(top_ups):
        deliver_event(top_up, EventKind.DISPUTED, amount_minor=14_970, reversal=f"case-{index}", event_id=f"opened-{index}")
    deliver_event(top_ups[1], EventKind.DISPUTE_LOST, amount_minor=14_970, reversal="case-1", event_id="lost")
    assert len(told(vendor, "earnings")) == len(told(vendor, "withheld")) == 1
    deliver_event(top_ups[0], end, amount_minor=14_970, reversal="case-0", event_id="ended")
    assert len(told(vendor, "earnings")) == 2
    assert len(told(vendor, subject)) == 1


@pytest.mark.parametrize(
    ("end", "subjects"),
    [(EventKind.DISPUTE_LOST, ["₹399.20 of your earnings went back to a card"]), (EventKind.DISPUTE_WON, [])],
)
def test_vendor_is_not_told_of_a_share_that_was_withheld_by_the_event_that_ends_it(end: EventKind, subjects: list[str]) -> None:
    top_up, vendor = sold_by_card()
    deliver_event(top_up, end)
    assert [str(mail.subject) for mail in sent_mails() if mail.to == [vendor.email] and "earnings" in str(mail.subject)] == subjects


def test_mail_about_a_refunded_payment_names_the_ended_licences_and_the_vendor_is_told() -> None:
    top_up, vendor = sold_by_card()
    deliver_event(top_up, EventKind.REFUNDED)
    (body,) = told(top_up.user, "on its way back to your card")
    assert "Aurora: your Personal licence ended" in body
    assert len(told(vendor, "₹399.20 of your earnings went back to a card")) == 1


def test_mail_about_a_lost_dispute_names_both_licences_of_an_upgrade() -> None:
    top_up = paid_top_up(amount_minor=99_800)
    first = bought(on_sale(title="Aurora"), top_up.user)
    bought(first.listing, top_up.user, license_slug="commercial", upgrade_from="personal")
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    (body,) = told(top_up.user, "went back to its card")
    assert "Aurora: your Commercial licence ended, and your Personal licence ended, too" in body


def test_mails_name_the_licence_that_an_upgrade_replaces_and_its_refund_restores() -> None:
    first = bought(on_sale(title="Aurora"), funded(inr=100_000))
    second = bought(first.listing, first.buyer, license_slug="commercial", upgrade_from="personal")
    assert "It replaces your Personal licence" in told(first.buyer, "You bought")[-1]
    refund_order(order=second, reason="test", actor=UserFactory(is_staff=True))
    assert "your Personal licence is as it was before the upgrade" in told(first.buyer, "refunded")[-1]
