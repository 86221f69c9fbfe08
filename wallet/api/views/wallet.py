"""The wallet's endpoints."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from library.errors import AlreadyOwned, LicenseNotUpgradable
from marketplace.api.idempotency import IDEMPOTENCY_PARAMETER, REPLAYED_HEADER, idempotency_key, idempotent
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.errors import IdempotencyConflict, IdempotencyKeyReused, NotFound
from marketplace.core.scopes import Scope

from ... import bounds
from ...errors import (
    ApprovalDeclined,
    ApprovalExpired,
    DiscountCodeInvalid,
    DiscountEnded,
    IdempotencyKeyRequired,
    InsufficientBalance,
    LicenseNotAvailable,
    OwnListing,
    PriceUnavailable,
    QuoteExpired,
    QuoteMismatch,
    QuoteUsed,
    SpendingLimitExceeded,
    TierRequired,
    TooManyApprovals,
    TooManyQuotes,
    UpgradeCurrencyDiffers,
    UpgradeUnavailable,
)
from ...selectors import wallet_of
from ...services.preferences import set_currency_preference
from .. import responses
from ..serializers.approvals import ApprovalRequestedResponse
from ..serializers.wallet import PreferenceBody, QuoteBody, QuoteResponse, SpendBody, SpendResponse, WalletResponse

# Problems of the purchase itself, independent of the balance.
_NO_OFFER = (
    *(NotFound, TierRequired, AlreadyOwned, OwnListing, PriceUnavailable, LicenseNotAvailable),
    *(DiscountCodeInvalid, DiscountEnded, UpgradeUnavailable, UpgradeCurrencyDiffers),
)


class WalletViewSet(ApiViewSet):
    """The caller's prepaid credit."""

    access = {
        "retrieve": key_or_bearer(Scope.ACCOUNT_READ),
        "update": key_or_bearer(Scope.WALLET_SPEND),
        "quote": key_or_bearer(Scope.WALLET_SPEND),
        "spend": key_or_bearer(Scope.WALLET_SPEND),
    }
    problems = {
        "quote": (*_NO_OFFER, TooManyQuotes),
        "spend": (
            *_NO_OFFER,
            InsufficientBalance,
            SpendingLimitExceeded,
            LicenseNotUpgradable,
            QuoteExpired,
            QuoteUsed,
            QuoteMismatch,
            IdempotencyConflict,
            IdempotencyKeyReused,
            IdempotencyKeyRequired,
            ApprovalDeclined,
            ApprovalExpired,
            TooManyApprovals,
        ),
    }

    @extend_schema(operation_id="getWallet", summary="Get the balances", responses=WalletResponse)
    def retrieve(self, request: Request) -> Response:
        """Return the balances in rupees and US dollars."""
        return Response(WalletResponse(wallet_of(principal_of(request).user)).data)

    @extend_schema(operation_id="updateWallet", summary="Set the preferred currency", request=PreferenceBody, responses=WalletResponse)
    def update(self, request: Request) -> Response:
        """Set the currency in which purchases are paid unless the request names another."""
        user = principal_of(request).user
        set_currency_preference(user=user, currency=parse_body(PreferenceBody, request)["currencyPreference"], actor=user)
        return Response(WalletResponse(wallet_of(user)).data)

    @extend_schema(
        operation_id="quoteAsset",
        summary="Get a quote",
        description=f"Get a price that is guaranteed for {bounds.QUOTE_MINUTES} minutes, even if the vendor changes it.",
        request=QuoteBody,
        responses=QuoteResponse,
    )
    @idempotent
    def quote(self, request: Request) -> Response:
        body = parse_body(QuoteBody, request)
        return Response(responses.quote(principal_of(request), body))

    @extend_schema(
        operation_id="buyAsset",
        summary="Buy an asset",
        parameters=[IDEMPOTENCY_PARAMETER],
        request=SpendBody,
        responses={200: SpendResponse, 202: ApprovalRequestedResponse},
    )
    def spend(self, request: Request) -> Response:
        """Buy an asset: debit the wallet and grant the licence at once.

        With `onLimit: "ask"`, a purchase above a spending limit waits for the wallet's owner, with status 202. Repeat the
        request with its key: it answers 202 until the owner has decided, and then completes the purchase.
        """
        key = idempotency_key(request)
        body = parse_body(SpendBody, request)
        response, replayed = responses.purchase(principal_of(request), body, idempotency_key=key)
        if not response["success"]:
            return Response(response, status=202)
        return Response(response, headers={REPLAYED_HEADER: "true"} if replayed else {})
