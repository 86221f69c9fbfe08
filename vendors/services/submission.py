"""Submits listings: the checks run first, outside of any transaction, then the status changes."""

from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction

from catalog.errors import NothingToReview
from catalog.models import Listing
from catalog.models.listings import ListingStatus
from catalog.services.submission import submit_listing
from catalog.services.transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS
from marketplace.accounts.models import User
from marketplace.core.errors import InvalidTransition, Problem

from ..errors import SubmitChecksFailed
from .submission_checks import CheckOutcome, check_thumbnail, run_checks


def check_and_submit(*, listing: Listing, actor: User) -> Listing:
    """Check a listing, or the new file of a published one, and queue it for review.

    Raises:
        As of `submit_checked`.
    """
    return submit_checked(listing=listing, checks=run_submit_checks(listing), actor=actor)


def run_submit_checks(listing: Listing) -> list[CheckOutcome]:
    """Run every check, outside of transactions; none if the listing cannot be submitted anyway, since a check may read a large stored file."""
    return [] if _refusal_of(listing) else run_checks(listing)


@transaction.atomic
def submit_checked(*, listing: Listing, checks: Sequence[CheckOutcome], actor: User) -> Listing:
    """Queue a listing, as it was when the checks ran, for review.

    Raises:
        InvalidTransition: it is under review already, or its file was replaced while it was checked.
        NothingToReview: it is published and has no new file.
        PreconditionFailed: it has changed since the state that If-Match names.
        SubmitChecksFailed: at least one check failed, or the thumbnail was removed since the checks.
    """
    if refusal := _refusal_of(listing):
        raise refusal
    outcomes = [asdict(check) for check in checks]
    if not all(check.passed for check in checks):
        raise SubmitChecksFailed(checks=outcomes)
    submitted = submit_listing(listing=listing, checks=outcomes, actor=actor)
    # Again, now that the listing is locked: reading a large file may have taken minutes.
    thumbnail = check_thumbnail(submitted)
    if not thumbnail.passed:
        raise SubmitChecksFailed(checks=[asdict(thumbnail if check.name == thumbnail.name else check) for check in checks])
    return submitted


def _refusal_of(listing: Listing) -> Problem | None:
    """Return why the transition would refuse a listing, which checks it again; None if it would not."""
    published = listing.status == ListingStatus.PUBLISHED
    if published and listing.candidate_deliverable_id is None:
        return NothingToReview()
    if not (UPDATE_TRANSITIONS if published else LISTING_TRANSITIONS).allows(listing, "submit"):
        return InvalidTransition("It is already in review.", currentState=listing.update_status or listing.status)
    return None
