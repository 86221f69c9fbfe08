"""A vendor's listings: create, read and edit."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Listing
from marketplace.core.access import bearer_only
from marketplace.core.api.serializers import Body, parse_body
from marketplace.core.scopes import Scope

from ...errors import ListingLocked, SlugTaken, VendorNotApproved
from ...selectors import listing_of, listings_of, reviews_of, with_files
from ...services import listings
from ..serializers.listings import (
    DetailsPatch,
    DetailsPatched,
    LicensingPatch,
    LicensingPatched,
    ListingCreated,
    ListingPage,
    ListingQuery,
    ListingRecord,
    ListingSummary,
    NewListing,
    RegionalPricesPatch,
    RegionalPricesPatched,
)
from ..serializers.reviews import ReviewPage, ReviewQuery, ReviewRecord
from .base import VendorViewSet

MANAGE = bearer_only(Scope.VENDOR_MANAGE)


class ListingViews(VendorViewSet):
    """The caller's listings. `asset_id` is the id or the slug; someone else's does not exist."""

    access = dict.fromkeys(("list", "create", "retrieve", "update_details", "regional_prices", "licensing", "reviews"), MANAGE)
    problems = {
        "list": (VendorNotApproved,),
        "create": (VendorNotApproved, SlugTaken),
        "retrieve": (VendorNotApproved,),
        "update_details": (VendorNotApproved, ListingLocked),
        "regional_prices": (VendorNotApproved, ListingLocked),
        "licensing": (VendorNotApproved, ListingLocked),
        "reviews": (VendorNotApproved,),
    }
    queries = {"list": ListingQuery, "reviews": ReviewQuery}

    @extend_schema(operation_id="listListings", summary="List your listings", responses=ListingPage)
    def list(self, request: Request) -> Response:
        """List the caller's listings, newest first."""
        query = self.query()
        rows = listings_of(self.profile)
        if "status" in query:
            rows = rows.filter(status=query["status"])
        start = (query["page"] - 1) * query["limit"]
        items = ListingSummary(rows[start : start + query["limit"]], many=True).data
        return Response({"total": rows.count(), "page": query["page"], "items": items})

    @extend_schema(operation_id="createListing", summary="Create a listing", request=NewListing, responses={200: ListingCreated})
    def create(self, request: Request) -> Response:
        """Create a listing as a draft in the caller's store."""
        body = parse_body(NewListing, request)
        return Response(ListingCreated(listings.create_listing(profile=self.profile, actor=self.user, **body)).data)

    @extend_schema(operation_id="getListing", summary="Get one of your listings", responses=ListingRecord)
    def retrieve(self, request: Request, asset_id: str) -> Response:
        """Return one of the caller's listings with all fields, files and previews."""
        return Response(ListingRecord(with_files(listing_of(self.profile, asset_id))).data)

    @extend_schema(operation_id="updateListing", summary="Change the details", request=DetailsPatch, responses=DetailsPatched)
    def update_details(self, request: Request, asset_id: str) -> Response:
        """Change the details of a listing. The slug can't be changed. Changes of a published listing are live at once."""
        listing, body = self._edit(request, asset_id, DetailsPatch)
        return Response(DetailsPatched(listings.update_details(listing=listing, actor=self.user, **body)).data)

    @extend_schema(
        operation_id="setRegionalPrices",
        summary="Set regional prices",
        request=RegionalPricesPatch,
        responses=RegionalPricesPatched,
    )
    def regional_prices(self, request: Request, asset_id: str) -> Response:
        """Set the prices in INR and EUR. Fields that are left out keep their value; null removes it."""
        listing, body = self._edit(request, asset_id, RegionalPricesPatch)
        return Response(RegionalPricesPatched(listings.set_regional_prices(listing=listing, actor=self.user, **body)).data)

    @extend_schema(
        operation_id="setLicensing",
        summary="Set licences and readme",
        request=LicensingPatch,
        responses=LicensingPatched,
    )
    def licensing(self, request: Request, asset_id: str) -> Response:
        """Set the permitted licences and the readme. Fields that are left out keep their value; null removes it."""
        listing, body = self._edit(request, asset_id, LicensingPatch)
        return Response(LicensingPatched(listings.set_licensing(listing=listing, actor=self.user, **body)).data)

    @extend_schema(operation_id="listReviews", summary="List the reviews of a listing", responses=ReviewPage)
    def reviews(self, request: Request, asset_id: str) -> Response:
        """List the submissions of a listing with the reviewers' findings, newest first."""
        query = self.query()
        rows = reviews_of(listing_of(self.profile, asset_id))
        start = (query["page"] - 1) * query["limit"]
        items = ReviewRecord(rows[start : start + query["limit"]], many=True).data
        return Response({"total": rows.count(), "page": query["page"], "items": items})

    def _edit(self, request: Request, asset_id: str, body: type[Body]) -> tuple[Listing, dict[str, Any]]:
        """Return the listing and the validated body. A locked listing is refused before the body is validated."""
        listing = listing_of(self.profile, asset_id)
        listings.ensure_editable(listing)
        return listing, parse_body(body, request, context={"listing": listing})
