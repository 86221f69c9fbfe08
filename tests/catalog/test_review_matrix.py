"""Every transition tried by every kind of actor, over the API and in the admin: generated from the tables."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from rest_framework.test import APIClient

from catalog.models import Listing, ListingReview
from catalog.models.listings import ListingStatus, UpdateStatus
from catalog.services import review as services
from catalog.services.snapshots import snapshot_of
from catalog.services.transitions import LISTING_TRANSITIONS, UPDATE_TRANSITIONS
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.core.transitions import TransitionTable
from tests.admin.pages import address, text_of
from tests.admin.subjects import APPROVAL, FINDINGS, REASON
from tests.callers import signed_in
from tests.catalog.cases import BY_APPEAL, FINDING, PASSED, add_candidate, draft, open_review, submitted
from tests.factories import UserFactory
from tests.vendors.cases import ASSETS, make_vendor
from vendors.models import VendorProfile, VendorStatus
from vendors.services import submission
from vendors.services.submission_checks import CheckOutcome

pytestmark = pytest.mark.django_db

VENDORS_STEPS = {"submit", "withdraw", "unpublish"}
ANSWERS = {"approve": APPROVAL, "reject": FINDINGS, "takedown": REASON}
EDITOR = ("review_listing", "takedown_listing", "block_deliverable")


@dataclass(frozen=True)
class Actor:
    """Someone who tries.

    Args:
        name: Who it is.
        owns: Whether the listing is theirs.
        vendor: Where their own vendor profile stands; None for someone who has none.
        staff: Whether they may enter the admin.
        editor: Whether they may review.
        superuser: Whether they may everything.
    """

    name: str
    owns: bool = False
    vendor: VendorStatus | None = None
    staff: bool = False
    editor: bool = False
    superuser: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def sells(self) -> bool:
        """Tell whether the vendor side is open to them."""
        return self.vendor == VendorStatus.APPROVED


ANONYMOUS = Actor("anonymous")
ACTORS = (
    ANONYMOUS,
    Actor("stranger"),
    Actor("other vendor", vendor=VendorStatus.APPROVED),
    Actor("pending owner", owns=True, vendor=VendorStatus.PENDING),
    Actor("suspended owner", owns=True, vendor=VendorStatus.SUSPENDED),
    Actor("owner", owns=True, vendor=VendorStatus.APPROVED),
    Actor("staff without permission", staff=True),
    Actor("reviewer", staff=True, editor=True),
    Actor("reviewer who owns it", owns=True, vendor=VendorStatus.APPROVED, staff=True, editor=True),
    Actor("superuser", staff=True, editor=True, superuser=True),
    Actor("superuser who owns it", owns=True, vendor=VendorStatus.APPROVED, staff=True, editor=True, superuser=True),
)


@dataclass(frozen=True)
class Cell:
    """One pair of the matrix.

    Args:
        table: Whose verb it is.
        verb: What is tried.
        state: From where.
    """

    table: TransitionTable
    verb: str
    state: str

    def __str__(self) -> str:
        return f"{self.table.noun} {self.verb} from {self.state or 'none'}"

    @property
    def target(self) -> str | None:
        """Return where it leads, None where it must be refused."""
        sources, target = self.table.edges[self.verb]
        return target if self.state in sources else None


def _cells() -> Iterator[Cell]:
    """Yield each verb in every state from which it leads somewhere, and in the first in which it must be refused.

    In the other states it is refused by the same table, as the tests of the services show.
    """
    for table, states in ((LISTING_TRANSITIONS, ListingStatus.values), (UPDATE_TRANSITIONS, UpdateStatus.values)):
        for verb in sorted(table.edges.keys() - BY_APPEAL):
            cells = [Cell(table, verb, state) for state in states]
            yield from (cell for cell in cells if cell.target is not None)
            yield next(cell for cell in cells if cell.target is None)


CELLS = list(_cells())


@pytest.fixture(autouse=True)
def _checks_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks before a submission have tests of their own."""
    outcomes = [CheckOutcome(check["name"], passed=True, detail="") for check in PASSED]  # type: ignore[arg-type]  # a name is text
    monkeypatch.setattr(submission, "run_checks", lambda _listing: outcomes)


def listing_in(cell: Cell, profile: VendorProfile) -> Listing:
    """Return a listing of the vendor in the state, brought there by the services."""
    listing = draft(store=profile.store)
    state = cell.state if cell.table is LISTING_TRANSITIONS else ListingStatus.PUBLISHED
    if state != ListingStatus.DRAFT:
        listing = submitted(listing)
    if state == ListingStatus.REJECTED:
        services.reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    if state == ListingStatus.PUBLISHED:
        services.approve_listing(review=open_review(listing), actor=UserFactory())
    listing = Listing.objects.get(pk=listing.pk)
    if cell.table is UPDATE_TRANSITIONS:
        listing = add_candidate(listing)
        if cell.state == UpdateStatus.PENDING_REVIEW:
            listing = submitted(listing)
    return listing


def case_of(listing: Listing) -> ListingReview:
    """Return the listing's newest case; of a draft, one that no submission made."""
    newest = listing.reviews.order_by("-id").first()
    return newest or ListingReview.objects.create(listing=listing, submitted_at=listing.created_at, snapshot=snapshot_of(listing))


def person(actor: Actor, profile: VendorProfile) -> User:
    """Return the actor; an owner is the one whose profile it is."""
    if actor.owns:
        user = profile.user
        profile.status = actor.vendor or profile.status
        profile.save()
        profile.store.is_open = actor.sells
        profile.store.save()
    else:
        user = make_vendor(actor.vendor).user if actor.vendor else UserFactory()
    user.is_staff, user.is_superuser = actor.staff, actor.superuser
    user.save()
    user.user_permissions.set(Permission.objects.filter(codename__in=EDITOR) if actor.editor else [])
    return user


def tries(actor: Actor, cell: Cell, listing: Listing, profile: VendorProfile, bearer_client: Callable[..., APIClient]) -> str:
    """Let the actor try it where such a step is taken; return the word of the refusal, nothing when it went through."""
    user = None if actor is ANONYMOUS else person(actor, profile)
    if cell.verb in VENDORS_STEPS:
        api = APIClient() if user is None else bearer_client(user, scopes={Scope.VENDOR_MANAGE})
        answer = api.post(f"{ASSETS}/{listing.pk}/{cell.verb}")
        return "" if answer.status_code == 200 else str(answer.json()["code"])
    browser = Client() if user is None else signed_in(user)
    model, row = (Listing, listing) if cell.verb == "takedown" else (ListingReview, case_of(listing))
    page = browser.post(address(model, cell.verb, row.pk), ANSWERS[cell.verb], follow=True)
    return _told(page)


def _told(page: Any) -> str:
    if page.redirect_chain and page.redirect_chain[-1][0].startswith("/account/login"):
        return "sign in"
    if page.status_code == 403:
        return "forbidden"
    words = text_of(page)
    refusals = {"You cannot review your own work": "self_review", "The state does not allow this": "invalid_transition"}
    return next((word for sentence, word in refusals.items() if sentence in words), "")


def refusals_of(actor: Actor, cell: Cell) -> str:
    """Return what the actor must be told, nothing where it must go through."""
    wrong_state = "" if cell.target is not None else "invalid_transition"
    if cell.verb in VENDORS_STEPS:
        if actor is ANONYMOUS:
            return "not_authenticated"
        if not actor.sells:
            return "vendor_not_approved"
        if not actor.owns:
            return "not_found"
        nothing_new = (cell.table, cell.verb, cell.state) == (LISTING_TRANSITIONS, "submit", ListingStatus.PUBLISHED)
        return "nothing_to_review" if nothing_new else wrong_state
    if actor is ANONYMOUS:
        return "sign in"
    if not actor.editor:
        return "forbidden"
    return "self_review" if actor.owns else wrong_state


def trail(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Yield what the audit log says about the listing's states, and about everything else of the catalog."""
    yield from AuditEntry.objects.filter(subject_type__startswith="catalog.").values_list("action", "from_state", "to_state")
    listing.refresh_from_db()
    yield (listing.status, listing.update_status, str(listing.approved_deliverable_id))


def test_review_matrix_has_every_verb() -> None:
    assert {(cell.table.noun, cell.verb) for cell in CELLS} == {
        (t.noun, verb) for t in (LISTING_TRANSITIONS, UPDATE_TRANSITIONS) for verb in t.edges.keys() - BY_APPEAL
    }
    assert {cell.verb for cell in CELLS} == VENDORS_STEPS | set(ANSWERS)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_actors_without_the_right_are_refused_and_change_nothing(cell: Cell, bearer_client: Callable[..., APIClient]) -> None:
    profile = make_vendor()
    listing = listing_in(cell, profile)
    case_of(listing)
    before = list(trail(listing))
    refused = [actor for actor in ACTORS if refusals_of(actor, cell)]
    assert refused
    for actor in refused:
        told = tries(actor, cell, listing, profile, bearer_client)
        assert told == refusals_of(actor, cell), actor
        assert list(trail(listing)) == before, actor


@pytest.mark.slow
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.target is not None], ids=str)
def test_actors_with_the_right_take_the_step_once(cell: Cell, bearer_client: Callable[..., APIClient]) -> None:
    allowed = [actor for actor in ACTORS if not refusals_of(actor, cell)]
    assert allowed
    for actor in allowed:
        profile = make_vendor()
        listing = listing_in(cell, profile)
        assert tries(actor, cell, listing, profile, bearer_client) == "", actor
        listing.refresh_from_db()
        assert getattr(listing, cell.table.field) == cell.target
        entry = AuditEntry.objects.get(
            action=f"{cell.table.noun}.{cell.verb}", subject_id=str(listing.pk), from_state=cell.state, to_state=cell.target
        )
        assert entry.actor is not None
        assert (entry.actor == profile.user) is actor.owns


@pytest.mark.slow
@pytest.mark.parametrize("table", [LISTING_TRANSITIONS, UPDATE_TRANSITIONS], ids=lambda table: table.noun)
def test_approval_for_a_vendor_who_is_not_approved_is_refused_rejection_is_not(table: TransitionTable) -> None:
    profile = make_vendor()
    cell = Cell(table, "approve", "PendingReview")
    listing = listing_in(cell, profile)
    profile.store.is_open = False
    profile.store.save()
    VendorProfile.objects.filter(pk=profile.pk).update(status=VendorStatus.SUSPENDED)
    root = signed_in(UserFactory(is_staff=True, is_superuser=True))
    review = open_review(listing)
    before = list(trail(listing))
    words = text_of(root.post(address(ListingReview, "approve", review.pk), APPROVAL, follow=True))
    assert "The store is closed" in words
    assert list(trail(listing)) == before
    root.post(address(ListingReview, "reject", review.pk), FINDINGS, follow=True)
    review.refresh_from_db()
    assert review.status == "Rejected"
