"""The logo of an app: re-encoded, seen by users once a reviewer has approved the one that their page showed."""

import io
from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from developers.errors import LogoNotReviewable
from developers.models import App, AppLogo, ScopeReview
from developers.services.apps import set_app_logo
from developers.services.scopes import ScopeDecision, decide_scopes, request_scopes
from marketplace.accounts.models import User
from marketplace.core.scopes import Scope
from tests.factories import AppFactory, UserFactory
from tests.files.makers import picture

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(app: App, developer: User) -> ScopeReview:
    return request_scopes(app=app, scopes={Scope.LIBRARY_READ: "To list fonts"}, actor=developer)


def _upload(client: Client, app: App, content: bytes) -> str:
    sent = {"logo": SimpleUploadedFile("logo.png", content)}
    return client.post(reverse("app-logo", args=[app.pk]), sent, follow=True).content.decode()


@pytest.mark.slow
def test_logo_is_kept_as_a_small_jpeg(browse: Callable[..., Client], developer: User, app: App, review: ScopeReview) -> None:
    client = browse(developer)
    assert "The logo is saved" in _upload(client, app, picture())
    response = client.get(reverse("app-logo", args=[app.pk]))
    assert response["Content-Type"] == "image/jpeg"
    assert Image.open(io.BytesIO(response.content)).format == "JPEG"
    assert client.post(reverse("app-logo", args=[app.pk]), {"remove": "yes"}).status_code == 302
    assert not AppLogo.objects.exists()


@pytest.mark.slow
def test_file_that_is_no_usable_image_changes_nothing(
    browse: Callable[..., Client], developer: User, app: App, review: ScopeReview
) -> None:
    assert "note-error" in _upload(browse(developer), app, b"<svg/>")
    assert not AppLogo.objects.exists()


def test_logo_that_no_reviewer_would_see_is_refused(app: App, developer: User) -> None:
    with pytest.raises(LogoNotReviewable):
        set_app_logo(app=app, image=b"jpeg", actor=developer)


def test_logo_is_seen_by_others_once_it_is_approved(
    browse: Callable[..., Client], app: App, developer: User, reviewer: User, review: ScopeReview
) -> None:
    address, stranger = reverse("app-logo", args=[app.pk]), browse(UserFactory())
    set_app_logo(app=app, image=b"jpeg", actor=developer)
    assert stranger.get(address).status_code == 404
    assert stranger.post(address, {"remove": "yes"}).status_code == 404
    staff = UserFactory(is_staff=True, is_superuser=True)
    page = BeautifulSoup(browse(staff).get(reverse("admin:developers_scopereview_change", args=[review.pk])).content, "html.parser")
    assert page.select_one(f'img[src^="{address}"]')
    shown = page.select_one('input[type=hidden][name="logo_digest"]')
    assert shown
    grant = {Scope.LIBRARY_READ: ScopeDecision(granted=True)}
    decide_scopes(review=review, decisions=grant, note="", logo_digest=str(shown["value"]), actor=reviewer)
    set_app_logo(app=AppFactory(), image=b"", actor=developer)
    assert stranger.get(address).content == b"jpeg"


@pytest.mark.parametrize("granted", [True, False])
def test_refused_logo_or_one_changed_since_the_review_stays_hidden(
    app: App,
    developer: User,
    reviewer: User,
    review: ScopeReview,
    granted: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    set_app_logo(app=app, image=b"first", actor=developer)
    seen = AppLogo.objects.get().digest
    if granted:
        set_app_logo(app=app, image=b"second", actor=developer)
    decisions = {Scope.LIBRARY_READ: ScopeDecision(granted=granted, note="As agreed.")}
    decide_scopes(review=review, decisions=decisions, note="", logo_digest=seen, actor=reviewer)
    assert not AppLogo.objects.get().approved
