"""Mails about decisions: one each, with what was found and what comes next; none about what did not happen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.utils import timezone

from catalog.models import Deliverable, Listing
from catalog.services import review as services
from marketplace.core.errors import InvalidTransition
from tests.catalog.cases import FINDING, add_candidate, draft, open_review, published, submitted
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def candidate(listing: Listing) -> Any:
    return Listing.objects.get(pk=listing.pk).candidate_deliverable


def approve(listing: Listing) -> object:
    return services.approve_listing(review=open_review(listing), actor=UserFactory(), note="Fine work.")


def reject(listing: Listing) -> object:
    findings = [FINDING, {"code": "preview_poor"}, {"code": "other", "message": "Say <more>."}]
    return services.reject_listing(review=open_review(listing), findings=findings, actor=UserFactory(), note="Nearly there.")


def take_down(listing: Listing) -> object:
    return services.takedown_listing(listing=listing, reason="Copied from elsewhere.", actor=UserFactory())


def block_waiting(listing: Listing) -> object:
    return services.block_deliverable(deliverable=candidate(listing), reason="Steals passwords.", actor=UserFactory())


def block_live(listing: Listing) -> object:
    live = Listing.objects.get(pk=listing.pk).approved_deliverable
    assert live is not None
    return services.block_deliverable(deliverable=live, reason="Steals passwords.", actor=UserFactory())


def unblock(listing: Listing) -> object:
    Deliverable.objects.filter(listing=listing).update(blocked_at=timezone.now())
    return services.unblock_deliverable(deliverable=candidate(listing), reason="It is a false alarm.", actor=UserFactory())


def update() -> Listing:
    return submitted(add_candidate(published()))


DECISIONS: list[tuple[Callable[[], Listing], Callable[[Listing], object], list[str]]] = [
    (submitted, approve, ["is published", "Fine work.", "http://testserver/assets/", "You don't need to do anything else"]),
    (update, approve, ["has a new file", "buyers get it from now on"]),
    (submitted, reject, ["needs changes", "File: It does not open.", "Zip it again.", "- Say <more>.", "Nearly there.", "/reviews"]),
    (update, reject, ["Buyers get the previously approved file in the meantime"]),
    (published, take_down, ["was taken down", "Copied from elsewhere.", "fix it and submit it again", "/reviews"]),
    (submitted, block_waiting, ["is blocked", "font.otf", "Steals passwords.", "is not on sale", "upload a clean one and submit it"]),
    (published, block_live, ["is blocked", "Steals passwords.", "is not on sale"]),
    (update, block_waiting, ["is blocked", "stays on sale with its approved file"]),
    (draft, unblock, ["no longer blocked", "It is a false alarm.", "submit it again"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "decide", "expected"), DECISIONS, ids=lambda value: getattr(value, "__name__", ""))
def test_vendor_gets_one_mail_with_the_findings_and_the_next_step(
    make: Callable[[], Listing], decide: Callable[[Listing], object], expected: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    listing = make()
    with django_capture_on_commit_callbacks(execute=True):
        decide(listing)
    assert [message.to for message in mail.outbox] == [[listing.store.owner.email]]
    message = mail.outbox[0]
    assert listing.title in message.subject
    for words in expected:
        assert words in f"{message.subject}\n{message.body}"
    assert [part.mimetype for part in message.alternatives] == ["text/html"]  # type: ignore[attr-defined]  # a mail of two forms


@pytest.mark.slow
def test_refused_or_rolled_back_decision_sends_no_mail(django_capture_on_commit_callbacks: Any) -> None:
    listing = submitted()
    review = open_review(listing)
    with django_capture_on_commit_callbacks(execute=True):
        with transaction.atomic():
            approve(listing)
            transaction.set_rollback(True)
        assert open_review(listing) == review
    assert not mail.outbox
    reject(listing)
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(InvalidTransition):
        services.approve_listing(review=review, actor=UserFactory())
    assert not mail.outbox
