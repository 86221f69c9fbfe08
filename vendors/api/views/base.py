"""The base of the views that need an approved vendor."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from catalog.models import Listing
from catalog.services.transitions import require_etag
from developers.principals import principal_of
from marketplace.accounts.models import User
from marketplace.api.views import ApiViewSet
from marketplace.core.access import bearer_only
from marketplace.core.scopes import Scope

from ...errors import VendorNotApproved
from ...models import VendorProfile
from ...selectors import approved_profile_of, listing_of
from ..conditions import required_etags

MANAGE = bearer_only(Scope.VENDOR_MANAGE)


class VendorViewSet(ApiViewSet):
    """Operations for approved vendors only."""

    common_problems = (VendorNotApproved,)

    profile: VendorProfile
    user: User

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the credential, then the vendor's approval, before the body is read."""
        super().initial(request, *args, **kwargs)
        self.user = principal_of(request).user
        self.profile = approved_profile_of(self.user)

    def listing_to_change(self, request: Request, asset_id: str) -> Listing:
        """Return the caller's listing, in the state that If-Match names; services check it again once they hold the row.

        Raises:
            NotFound: unknown, or another vendor's.
            PreconditionFailed: it has changed since the state that If-Match names.
        """
        listing = listing_of(self.profile, asset_id)
        self.apply_if_match(request, listing)
        return listing

    @staticmethod
    def apply_if_match(request: Request, listing: Listing) -> None:
        """Require that a listing is in the state that If-Match names.

        Raises:
            PreconditionFailed: it has changed since then.
        """
        listing.required_etags = required_etags(request)
        require_etag(listing, listing.required_etags)

    def page_of(self, rows: QuerySet[Any], serializer: type[Serializer[Any]], **context: Any) -> Response:
        """Return the page of the rows that the query asks for."""
        query = self.query()
        start = (query["page"] - 1) * query["limit"]
        items = serializer(rows[start : start + query["limit"]], many=True, context=context).data
        return Response({"total": rows.count(), "page": query["page"], "items": items})
