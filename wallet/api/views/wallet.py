"""The wallet's endpoints (reference section 4)."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import principal_of
from library.errors import AlreadyOwned, LicenceNotLive
from marketplace.api.idempotency import IDEMPOTENCY_PARAMETER, REPLAYED_HEADER, idempotency_key, idempotent
from marketplace.api.serializers import parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import key_or_bearer
from marketplace.core.errors import IdempotencyConflict, IdempotencyKeyReused, NotFound
from marketplace.core.scopes import Scope

from ... import bounds
from ...errors import (
    DiscountCodeInvalid,
    DiscountEnded,
    InsufficientBalance,
    LicenseNotAvailable,
    OwnListing,
    PriceUnavailable,
    QuoteExpired,
    QuoteMismatch,
    QuoteUsed,
    SpendingLimitExceeded,
    TierRequired,
    TooManyQuotes,
    UpgradeCurrencyDiffers,
    UpgradeUnavailable,
)
from ...services.preferences import set_currency_preference
from .. import responses
from ..serializers.wallet import PreferenceBody, QuoteAnswer, QuoteBody, SpendAnswer, SpendBody, WalletAnswer

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
            LicenceNotLive,
            QuoteExpired,
            QuoteUsed,
            QuoteMismatch,
            IdempotencyConflict,
            IdempotencyKeyReused,
        ),
    }

    @extend_schema(operation_id="getWallet", summary="Get the balances", responses=WalletAnswer)
    def retrieve(self, request: Request) -> Response:
        """Return the balances in rupees and US dollars."""
        return Response(responses.wallet(principal_of(request).user))

    @extend_schema(operation_id="updateWallet", summary="Set the preferred currency", request=PreferenceBody, responses=WalletAnswer)
    def update(self, request: Request) -> Response:
        """Set the currency in which purchases are paid unless the request names another."""
        user = principal_of(request).user
        set_currency_preference(user=user, currency=parse_body(PreferenceBody, request)["currencyPreference"], actor=user)
        return Response(responses.wallet(user))

    @extend_schema(
        operation_id="quoteAsset",
        summary="Get a quote",
        description=f"Get a price that is guaranteed for {bounds.QUOTE_MINUTES} minutes, even if the vendor changes it.",
        request=QuoteBody,
        responses=QuoteAnswer,
    )
    @idempotent
    def quote(self, request: Request) -> Response:
        """Get a price that is guaranteed for a while, even if the vendor changes it."""
        body = parse_body(QuoteBody, request)
        return Response(responses.quote(principal_of(request), body))

    @extend_schema(
        operation_id="buyAsset",
        summary="Buy an asset",
        parameters=[IDEMPOTENCY_PARAMETER],
        request=SpendBody,
        responses=SpendAnswer,
    )
    def spend(self, request: Request) -> Response:
        """Buy an asset: debit the wallet and grant the licence at once."""
        key = idempotency_key(request)
        body = parse_body(SpendBody, request)
        answer, replayed = responses.purchase(principal_of(request), body, idempotency_key=key)
        return Response(answer, headers={REPLAYED_HEADER: "true"} if replayed else {})
