"""Every page of the admin, in a shop whose rows have all the data that such rows can have."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db.models import Model
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse
from django.utils import timezone

from catalog.models import ListingReview, Store
from catalog.models.files import PreviewKind
from catalog.services import review as reviews
from catalog.services import submission
from developers.models import ApiUsage, App, ScopeReview
from developers.services import applications
from developers.services.credentials import issue_api_key, issue_mcp_token
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.review.service import ServiceAdmin
from tests.admin import subjects
from tests.catalog.cases import FINDING, PASSED, claim_review, draft, make_deliverable, open_review, published, submitted
from tests.factories import ListingFactory, PreviewFactory, UserFactory

# What a list is asked for: as it is, and searched.
LISTS: tuple[dict[str, Any], ...] = ({}, {"q": "asha"})
QUEUE = {"status__exact": "all", "claimed": "others", "category": "fonts", "kind": "Listing", "vendor": "of-nobody", "days": "1", "q": "x"}
SEARCHES = ("", "asha@example.com", "haldne", "Ab3d")
# What stands in for a page that is for superusers, that no service offers, that only takes a form, or whose row shows nothing of it.
REFUSED = {302, 403, 404, 405}
# Which rows of a model are opened: its youngest, its oldest, and of the young ones each that can be decided on otherwise.
YOUNG = 40


def keeper(*, superuser: bool) -> User:
    """Return someone who may do everything, by a group's permissions or by being a superuser; with a second factor."""
    user = UserFactory(is_staff=True, is_superuser=superuser)
    if not superuser:
        group = Group.objects.create(name="Everything")
        group.permissions.set(Permission.objects.all())
        user.groups.add(group)
        user.user_permissions.add(*Permission.objects.all()[:3])
    TOTP.activate(user, generate_totp_secret())
    return user


def enrich() -> None:
    """Make what waits and what was decided as rich as it gets."""
    for case in subjects.CASES:
        case.make()
    _rich_listing()
    _rich_application()
    _rich_app()


def paths() -> Iterator[str]:
    """Yield the address of everything in the admin that answers a GET."""
    yield reverse("admin:index")
    for q in SEARCHES:
        yield f"{reverse('admin-search')}?{urlencode({'q': q})}"
    for model, model_admin in admin.site._registry.items():
        base = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield from (f"{reverse(f'{base}_changelist')}?{urlencode(query)}".rstrip("?") for query in LISTS)
        if model is ListingReview:
            yield f"{reverse(f'{base}_changelist')}?{urlencode(QUEUE)}"
        for route in _routes(model_admin):
            yield from _opened(model, model_admin, route)


def _routes(model_admin: Any) -> list[str]:
    patterns: list[URLPattern | URLResolver] = model_admin.get_urls()
    # Services make and end rows: nothing of theirs is added or deleted here. Of Django's own histories, one is like the other.
    apart = ("_changelist", "_history", *(("_add", "_delete") if isinstance(model_admin, ServiceAdmin) else ()))
    return [each.name for each in patterns if isinstance(each, URLPattern) and each.name and not each.name.endswith(apart)]


def _opened(model: type[Model], model_admin: Any, route: str) -> Iterator[str]:
    try:
        yield reverse(f"admin:{route}")
    except NoReverseMatch:
        decision = route.removeprefix(f"{model._meta.app_label}_{model._meta.model_name}_")
        # Files, which are no pages.
        if decision not in {"download", "picture"}:
            yield from (reverse(f"admin:{route}", args=[pk]) for pk in _rows(model, model_admin, decision))


def _rows(model: type[Model], model_admin: Any, decision: str) -> list[Any]:
    rows = model._default_manager.order_by("pk")
    young = list(rows.reverse()[:YOUNG])
    settings = model_admin.decisions().get(decision) if isinstance(model_admin, ServiceAdmin) else None
    if settings is not None:
        return [row.pk for row in young if settings.available(row)][:1] or [row.pk for row in young[:1]]
    by_state = {getattr(row, "status", ""): row.pk for row in reversed(young)}
    return list(dict.fromkeys([*by_state.values(), *rows.values_list("pk", flat=True)[:1]]))


def _rich_listing() -> None:
    """Make an update that waits, of a listing with a past, by a vendor with a past, whose bytes others have too."""
    listing = published(title="Halden Sans", slug="halden-sans")
    store: Store = listing.store
    for number in range(15):
        other = submitted(draft(store=store, slug=f"other-{number}"))
        reviews.reject_listing(review=open_review(other), findings=[FINDING] * 3, actor=UserFactory())
    file = make_deliverable(listing, sha256="cd" * 32, technical={"format": "otf"}, entries=[["a.otf", 10]])
    for number in range(15):
        make_deliverable(ListingFactory(slug=f"copy-{number}"), sha256="cd" * 32)
    for kind, slots in ((PreviewKind.GALLERY, range(5)), (PreviewKind.AUDIO_PREVIEW, [0]), (PreviewKind.FONT_SPECIMEN, [0])):
        for slot in slots:
            PreviewFactory(listing=listing, kind=kind, slot=slot)
    listing.title, listing.candidate_deliverable = "Halden Sans Neue", file
    listing.save()
    review = submission.submit_listing(listing=listing, checks=PASSED, actor=store.owner).reviews.get(status="Pending")
    claim_review(review, UserFactory())
    _history(listing)


def _rich_application() -> None:
    application = subjects.application()
    for _ in range(3):
        applications.request_more_info(application=application, reason="What for?", actor=UserFactory(is_staff=True))
        application.refresh_from_db()
        applications.answer_question(application=application, text="For this.", actor=application.user)
        application.refresh_from_db()
    _history(application)


def _rich_app() -> None:
    app = subjects.capped_app()
    soon = timezone.now() + timedelta(days=30)
    for number in range(5):
        key, _ = issue_api_key(app=app, name=f"key {number}", actor=app.developer)
        issue_mcp_token(app=app, name=f"tool {number}", expires_at=soon, actor=app.developer, password_confirmed=True)
        ApiUsage.objects.create(
            app=app, day=timezone.now().date(), credential_id=key.pk, kind="api_key", operation="assets", status=200, calls=9
        )
    # Old enough for scopes without use.
    App.objects.filter(pk=app.pk).update(created=timezone.now() - timedelta(days=200))
    _history(app)
    review = subjects.scope_review()
    _history(review)
    ScopeReview.objects.filter(pk=review.pk).update(claimed_by=UserFactory(), claimed_at=timezone.now())


def _history(subject: Model) -> None:
    for number in range(25):
        audit.record("app.suspend", subject, actor=UserFactory(), from_state="A", to_state="B", reason=f"Reason {number}")
