"""A vendor's listings: create, read and edit."""

from typing import Any

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from marketplace.api.idempotency import idempotent
from marketplace.api.serializers import Body, EmptyBody, parse_body
from marketplace.core.errors import PreconditionFailed

from ...errors import AiPartsMismatch, DraftNotDeletable, ListingLocked, SlugLocked, SlugTaken, TooManyDrafts
from ...selectors import listing_of, listings_of, reviews_of
from ...services import drafts, listings
from ..conditions import documents_etag, documents_if_match, with_etag
from ..serializers.listings import (
    DetailsPatch,
    DetailsPatched,
    LicensingPatch,
    LicensingPatched,
    ListingCreated,
    ListingDeleted,
    ListingPage,
    ListingQuery,
    ListingRecord,
    ListingSummary,
    NewListing,
    RegionalPricesPatch,
    RegionalPricesPatched,
)
from ..serializers.paging import PageQuery
from ..serializers.reviews import ReviewPage, ReviewRecord
from .base import MANAGE, VendorViewSet


class ListingViews(VendorViewSet):
    """The caller's listings. `asset_id` is the id or the slug; that of another vendor gives 404."""

    problems = {
        "list": (),
        "create": (SlugTaken, AiPartsMismatch, TooManyDrafts),
        "retrieve": (),
        "update_details": (ListingLocked, SlugLocked, SlugTaken, AiPartsMismatch, PreconditionFailed),
        "delete_draft": (DraftNotDeletable, PreconditionFailed),
        "set_regional_prices": (ListingLocked, PreconditionFailed),
        "set_licensing": (ListingLocked, PreconditionFailed),
        "list_reviews": (),
    }
    access = dict.fromkeys(problems, MANAGE)
    queries = {"list": ListingQuery, "list_reviews": PageQuery}

    @extend_schema(operation_id="listListings", summary="List your listings", responses=ListingPage)
    def list(self, request: Request) -> Response:
        """List the caller's listings, newest first."""
        rows = listings_of(self.profile)
        if status := self.query().get("status"):
            rows = rows.filter(status=status)
        return self.page_of(rows, ListingSummary)

    @documents_etag
    @extend_schema(operation_id="createListing", summary="Create a listing", request=NewListing, responses={200: ListingCreated})
    @idempotent
    def create(self, request: Request) -> Response:
        """Create a listing as a draft in the caller's store."""
        body = parse_body(NewListing, request)
        listing = listings.create_listing(profile=self.profile, actor=self.user, **body)
        return with_etag(listing, ListingCreated(listing).data)

    @documents_etag
    @extend_schema(operation_id="getListing", summary="Get one of your listings", responses=ListingRecord)
    def retrieve(self, request: Request, asset_id: str) -> Response:
        """Return one of the caller's listings with all fields, files and previews."""
        listing = listing_of(self.profile, asset_id)
        prefetch_related_objects([listing], "previews")
        return with_etag(listing, ListingRecord(listing).data)

    @documents_if_match
    @documents_etag
    @extend_schema(operation_id="updateListing", summary="Change the details", request=DetailsPatch, responses=DetailsPatched)
    def update_details(self, request: Request, asset_id: str) -> Response:
        """Change the details of a listing. The slug can be changed until the first submission. Changes of a published listing are live at once."""
        return self._edit(request, asset_id, DetailsPatch, DetailsPatched)

    @documents_if_match
    @extend_schema(operation_id="deleteListing", summary="Delete a draft", request=None, responses={200: ListingDeleted})
    def delete_draft(self, request: Request, asset_id: str) -> Response:
        """Delete a draft that was never submitted, with its files and previews. It can't be undone."""
        listing = self.listing_to_change(request, asset_id)
        parse_body(EmptyBody, request)
        return Response(ListingDeleted({"id": drafts.delete_draft(listing=listing, actor=self.user)}).data)

    @documents_if_match
    @documents_etag
    @extend_schema(
        operation_id="setRegionalPrices",
        summary="Set regional prices",
        request=RegionalPricesPatch,
        responses=RegionalPricesPatched,
    )
    def set_regional_prices(self, request: Request, asset_id: str) -> Response:
        """Set the prices in INR and EUR. A field that is left out keeps its value; null removes the price."""
        return self._edit(request, asset_id, RegionalPricesPatch, RegionalPricesPatched)

    @documents_if_match
    @documents_etag
    @extend_schema(
        operation_id="setLicensing",
        summary="Set licences and readme",
        request=LicensingPatch,
        responses=LicensingPatched,
    )
    def set_licensing(self, request: Request, asset_id: str) -> Response:
        """Set the permitted licence tiers and the readme. A field that is left out keeps its value; null permits every active tier, or removes the readme."""
        return self._edit(request, asset_id, LicensingPatch, LicensingPatched)

    @extend_schema(operation_id="listReviews", summary="List the reviews of a listing", responses=ReviewPage)
    def list_reviews(self, request: Request, asset_id: str) -> Response:
        """List the reviews of a listing, newest first: submissions with the reviewers' findings, takedowns and restorations."""
        return self.page_of(reviews_of(listing_of(self.profile, asset_id)), ReviewRecord)

    def _edit(self, request: Request, asset_id: str, body: type[Body], response: type[Serializer[Any]]) -> Response:
        """Change the listing. A locked listing is refused before the body is validated."""
        listing = self.listing_to_change(request, asset_id)
        listings.ensure_editable(listing)
        changes = parse_body(body, request, context={"listing": listing})
        listing = listings.update_listing(listing=listing, actor=self.user, **changes)
        return with_etag(listing, response(listing).data)
