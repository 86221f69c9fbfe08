"""From draft to review and back: manifest, checks, submit, withdraw, unpublish."""

from collections.abc import Sequence

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.errors import DeliverableBlocked, DeliverableMissing, NothingToReview
from catalog.models import Listing
from catalog.services.submission import unpublish_listing, withdraw_listing
from marketplace.api.idempotency import documents_idempotency_key, idempotent
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.core.errors import InvalidTransition, PreconditionFailed

from ...errors import ListingLocked, SubmitChecksFailed
from ...selectors import listing_of
from ...services.listings import ensure_editable
from ...services.manifests import generate_manifest
from ...services.submission import run_submit_checks, submit_checked
from ...services.submission_checks import CheckOutcome, run_checks
from ..conditions import documents_etag, documents_if_match, with_etag
from ..serializers.manifests import GeneratedManifest
from ..serializers.reviews import ListingStatusResponse, Preflight, SubmittedResponse
from .base import MANAGE, VendorViewSet


class SubmissionViews(VendorViewSet):
    """Steps of a listing that take no body: manifest, checks, submission, withdrawal, end of sale."""

    problems = {
        "generate_manifest": (ListingLocked, PreconditionFailed),
        "preflight": (),
        "submit": (
            InvalidTransition,
            NothingToReview,
            DeliverableBlocked,
            DeliverableMissing,
            SubmitChecksFailed,
            PreconditionFailed,
        ),
        "withdraw": (InvalidTransition, PreconditionFailed),
        "unpublish": (InvalidTransition, PreconditionFailed),
    }
    access = dict.fromkeys(problems, MANAGE)

    @documents_if_match
    @extend_schema(operation_id="generateManifest", summary="Generate the manifest", request=None, responses=GeneratedManifest)
    def generate_manifest(self, request: Request, asset_id: str) -> Response:
        """Generate the AI manifest from the listing and the technical details of its file."""
        listing = self.listing_to_change(request, asset_id)
        ensure_editable(listing)
        parse_body(EmptyBody, request)
        return Response(generate_manifest(listing=listing, actor=self.user).body)

    @extend_schema(operation_id="preflightListing", summary="Run the submit checks", request=None, responses=Preflight)
    def preflight(self, request: Request, asset_id: str) -> Response:
        """Run the checks of submit and return the result of each. Nothing is changed."""
        listing = listing_of(self.profile, asset_id)
        parse_body(EmptyBody, request)
        checks = run_checks(listing)
        return Response(Preflight({"passed": all(check.passed for check in checks), "checks": checks}).data)

    @documents_if_match
    @documents_etag
    @extend_schema(operation_id="submitListing", summary="Submit for review", request=None, responses=SubmittedResponse)
    @documents_idempotency_key
    def submit(self, request: Request, asset_id: str) -> Response:
        """Submit the listing for review. For a published listing the new file is submitted; buyers get the reviewed one in the meantime."""
        listing = listing_of(self.profile, asset_id)
        return self._submit(request, listing, run_submit_checks(listing))

    @idempotent
    def _submit(self, request: Request, listing: Listing, checks: Sequence[CheckOutcome]) -> Response:
        self.apply_if_match(request, listing)
        parse_body(EmptyBody, request)
        listing = submit_checked(listing=listing, checks=checks, actor=self.user)
        return with_etag(listing, SubmittedResponse(listing).data)

    @documents_if_match
    @documents_etag
    @extend_schema(operation_id="withdrawListing", summary="Withdraw a submission", request=None, responses=ListingStatusResponse)
    @idempotent
    def withdraw(self, request: Request, asset_id: str) -> Response:
        """Withdraw the listing, or the new file of a published listing, from review."""
        listing = self.listing_to_change(request, asset_id)
        parse_body(EmptyBody, request)
        listing = withdraw_listing(listing=listing, actor=self.user)
        return with_etag(listing, ListingStatusResponse(listing).data)

    @documents_if_match
    @documents_etag
    @extend_schema(operation_id="unpublishListing", summary="Take a listing off sale", request=None, responses=ListingStatusResponse)
    @idempotent
    def unpublish(self, request: Request, asset_id: str) -> Response:
        """Remove the listing from the catalog. It becomes a draft; buyers keep it."""
        listing = self.listing_to_change(request, asset_id)
        parse_body(EmptyBody, request)
        listing = unpublish_listing(listing=listing, actor=self.user)
        return with_etag(listing, ListingStatusResponse(listing).data)
