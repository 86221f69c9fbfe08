"""Rows for tests, valid by default."""

import uuid
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from catalog.models import Category, Deliverable, Listing, ListingStats, Preview, Store, StorePicture
from catalog.models.listings import ListingStatus
from catalog.services.visibility import listing_changed
from developers import bounds
from developers.audiences import Audience
from developers.models import App, Consent
from developers.services.consents import give_consent
from developers.services.spending import LimitValues
from marketplace.accounts.models import User
from marketplace.core.money import WALLET_CURRENCIES
from marketplace.core.scopes import APP_SCOPES, Scope, format_scopes

# Limits for tokens that spend, in tests of something else.
PLENTY = tuple(LimitValues(currency, total_minor=bounds.MAX_SPENDING_LIMIT_MINOR) for currency in WALLET_CURRENCIES)


PASSWORD = "correct horse battery"


class UserFactory(DjangoModelFactory[User]):
    """An active user with the password `PASSWORD`."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"user{n}@example.com")
    name = factory.Sequence(lambda n: f"User {n}")

    @classmethod
    def _create(cls, model_class: type[User], *_args: Any, **kwargs: Any) -> User:
        password = kwargs.pop("password", PASSWORD)
        return model_class.objects.create_user(password=password, **kwargs)


class AppFactory(DjangoModelFactory[App]):
    """An approved app that was granted every scope an app can have."""

    class Meta:
        model = App

    user = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda n: f"App {n}")
    purpose = "Tests"
    status = "Approved"
    granted_scopes = format_scopes(APP_SCOPES)
    client_type = App.CLIENT_PUBLIC
    authorization_grant_type = App.GRANT_AUTHORIZATION_CODE


def connect_app(user: User, app: App, scopes: frozenset[Scope]) -> Consent:
    """Return the user's consent to the app."""
    return give_consent(
        user=user,
        app=app,
        scopes=scopes,
        audience=Audience.API,
        redirect_uri="https://app.example/callback",
        code=uuid.uuid4().hex,
        code_challenge="c" * 43,
        actor=user,
    )


class CategoryFactory(DjangoModelFactory[Category]):
    """An active category; those of the seed are found, not made again."""

    class Meta:
        model = Category
        django_get_or_create = ("slug",)

    slug = "fonts"
    name = "Fonts"


class StoreFactory(DjangoModelFactory[Store]):
    """An open store."""

    class Meta:
        model = Store

    owner = factory.SubFactory(UserFactory)
    name = factory.Sequence(lambda n: f"Store {n}")
    slug = factory.Sequence(lambda n: f"store-{n}")
    is_open = True


class ListingFactory(DjangoModelFactory[Listing]):
    """A draft listing without files."""

    class Meta:
        model = Listing

    store = factory.SubFactory(StoreFactory)
    category = factory.SubFactory(CategoryFactory)
    title = factory.Sequence(lambda n: f"Listing {n}")
    slug = factory.Sequence(lambda n: f"listing-{n}")
    short_description = "One sentence."
    base_price_minor = 1000


class DeliverableFactory(DjangoModelFactory[Deliverable]):
    """The record of an approved archive; no object is stored under its key."""

    class Meta:
        model = Deliverable

    listing = factory.SubFactory(ListingFactory)
    object_key = factory.Sequence(lambda n: f"deliverables/factory-{n}")
    original_filename = "archive.zip"
    file_size = 1234
    sha256 = "ab" * 32
    crc32 = 1
    format = "zip"
    technical = factory.LazyFunction(
        lambda: {"format": "zip", "entryCount": 1, "uncompressedSize": 2000, "contentsByExtension": {"otf": 1}}
    )
    approved_at = factory.LazyFunction(timezone.now)


class StoredFileFactory(DjangoModelFactory[Any]):
    """The record of a picture; no object is stored under its key."""

    class Meta:
        abstract = True

    object_key = factory.Sequence(lambda n: f"previews/factory-{n}")
    content_type = "image/webp"
    size = 1
    sha256 = "a" * 64


class PreviewFactory(StoredFileFactory):
    """A picture in a listing's gallery."""

    class Meta:
        model = Preview

    listing = factory.SubFactory(ListingFactory)
    kind = "Gallery"


class StorePictureFactory(StoredFileFactory):
    """A store's logo."""

    class Meta:
        model = StorePicture

    store = factory.SubFactory(StoreFactory)
    kind = "Logo"


class PublishedListingFactory(ListingFactory):
    """A listing for sale in an open store, with an approved file, found by search; `purchases` makes it popular."""

    @classmethod
    def _create(cls, model_class: type[Listing], *args: Any, **kwargs: Any) -> Listing:
        purchases = kwargs.pop("purchases", 0)
        published_at = kwargs.pop("published_at", None) or timezone.now()
        listing: Listing = super()._create(model_class, *args, **kwargs)
        listing.approved_deliverable = DeliverableFactory(listing=listing)
        listing.published_at = published_at
        listing.status = ListingStatus.PUBLISHED
        listing.save()
        ListingStats.objects.create(listing=listing, purchases=purchases)
        listing_changed(listing)
        return listing
