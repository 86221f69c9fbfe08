"""A listing's discounts: list, add and end."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import bounds as catalog_bounds
from marketplace.api.idempotency import idempotent
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id

from ...errors import DiscountOverlaps, DiscountPeriodInvalid, TooManyDiscounts
from ...selectors import discounts_of, listing_of
from ...services.discounts import add_discount, end_discount
from ..serializers.discounts import DiscountPage, DiscountRecord, NewDiscount
from ..serializers.paging import PageQuery
from .base import MANAGE, VendorViewSet


class DiscountViews(VendorViewSet):
    """Discounts of the caller's listings."""

    problems = {
        "list": (),
        "create": (DiscountPeriodInvalid, DiscountOverlaps, TooManyDiscounts),
        "end": (),
    }
    access = dict.fromkeys(problems, MANAGE)
    queries = {"list": PageQuery}

    @extend_schema(
        operation_id="listDiscounts",
        summary="List the discounts of a listing",
        description=f"List a listing's discounts, also those that ended in the last {catalog_bounds.ENDED_DISCOUNT_DAYS} days.",
        responses=DiscountPage,
    )
    def list(self, request: Request, asset_id: str) -> Response:
        return self.page_of(discounts_of(listing_of(self.profile, asset_id)), DiscountRecord)

    @extend_schema(operation_id="addDiscount", summary="Add a discount", request=NewDiscount, responses={200: DiscountRecord})
    @idempotent
    def create(self, request: Request, asset_id: str) -> Response:
        """Give a listing a discount. It can be ended early, but not changed. Of several discounts the largest counts."""
        listing = listing_of(self.profile, asset_id)
        discount = add_discount(listing=listing, actor=self.user, **parse_body(NewDiscount, request))
        return Response(DiscountRecord(discount).data)

    @extend_schema(operation_id="endDiscount", summary="End a discount", request=None, responses={200: DiscountRecord})
    def end(self, request: Request, asset_id: str, discount_id: str) -> Response:
        """End a discount now; one that has not begun is deleted. Quotes that were made with it keep their price."""
        listing, row_id = listing_of(self.profile, asset_id), parse_id(discount_id)
        parse_body(EmptyBody, request)
        if row_id is None:
            raise NotFound
        discount = end_discount(listing=listing, discount_id=row_id, actor=self.user)
        return Response(DiscountRecord(discount).data)
