"""Decisions that can be appealed, and appeals against them."""

from collections.abc import Callable
from typing import Any

from django.db.models import Model

from catalog.models import Listing
from catalog.services.review import reject_listing, takedown_listing
from developers.models import App, DeveloperApplication
from developers.services.applications import approve_application, reject_application, submit_application, withdraw_approval
from developers.services.apps import create_app, suspend_app
from developers.services.scopes import reject_app
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.review.appeals import appealable_decision, submit_appeal
from marketplace.review.models import Appeal
from tests.catalog.cases import FINDING, add_candidate, open_review, published, rejected, submitted
from tests.factories import AppFactory, UserFactory
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import reject_vendor, suspend_vendor


def taken_down(reviewer: User | None = None) -> Listing:
    listing = published(store=make_vendor().store)
    takedown_listing(listing=listing, reason="Copied.", actor=reviewer or UserFactory())
    return Listing.objects.get(pk=listing.pk)


def update_rejected() -> Listing:
    listing = submitted(add_candidate(published()))
    reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    return Listing.objects.get(pk=listing.pk)


def suspended_vendor() -> VendorProfile:
    return suspend_vendor(profile=make_vendor(), reason="Copied.", actor=UserFactory())


def rejected_vendor() -> VendorProfile:
    return reject_vendor(profile=make_vendor(VendorStatus.PENDING), reason="No work shown.", actor=UserFactory())


def application() -> DeveloperApplication:
    user = UserFactory()
    return submit_application(user=user, what="A font browser", why="To read manifests", actor=user)


def rejected_application() -> DeveloperApplication:
    return reject_application(application=application(), reason="Too short.", actor=UserFactory())


def developer() -> DeveloperApplication:
    """Return an approved application."""
    return approve_application(application=application(), reason="Fine.", actor=UserFactory())


def withdrawn_approval() -> DeveloperApplication:
    """Return an application whose approval was withdrawn, with an app that was suspended with it."""
    approved = developer()
    AppFactory(user=approved.user)
    return withdraw_approval(application=approved, reason="Too many calls.", actor=UserFactory())


def suspended_app() -> App:
    return suspend_app(app=AppFactory(user=developer().user), reason="Too many calls.", actor=UserFactory())


def rejected_app() -> App:
    """Return an app that was rejected with all of its scopes."""
    user = developer().user
    scopes = {Scope.CATALOG_READ: "To read manifests", Scope.WALLET_SPEND: "To buy fonts"}
    app = create_app(user=user, name="Fontster", purpose="Browses fonts", scopes=scopes, actor=user)
    return reject_app(app=app, reason="It asks for too much.", actor=UserFactory())


# What can be appealed, and the status that a reversal leads to.
APPEALABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "listing.takedown": (taken_down, "Published"),
    "listing.reject": (rejected, "PendingReview"),
    "listing_update.reject": (update_rejected, "Published"),
    "vendor.suspend": (suspended_vendor, "Approved"),
    "vendor.reject": (rejected_vendor, "Approved"),
    "app.suspend": (suspended_app, "Approved"),
    "app.reject": (rejected_app, "Pending"),
    "application.reject": (rejected_application, "Approved"),
    "application.withdraw": (withdrawn_approval, "Approved"),
}


def owner_of(subject: Any) -> User:
    owner: User = subject.store.owner if isinstance(subject, Listing) else subject.user
    return owner


def decision_on(subject: Model) -> AuditEntry:
    decision = appealable_decision(subject)
    assert decision is not None
    return decision


def appealed(subject: Any = None) -> Appeal:
    subject = subject or taken_down()
    return submit_appeal(decision=decision_on(subject), text="It is my own work.", actor=owner_of(subject))
