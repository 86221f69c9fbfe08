"""Top-ups: ask for a payment page, and credit what was paid on it."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from developers.principals import Principal
from developers.redirects import origin_of, uri_error
from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import NotFound
from marketplace.core.idempotency import KeyedRequest, keyed_request, save_response, saved_response
from marketplace.core.money import to_number
from marketplace.core.transitions import TransitionTable, lock
from marketplace.ui.formatting import money
from marketplace.ui.mail import mail

from .. import bounds
from ..card_credit import open_top_ups_of, topped_up_since
from ..errors import (
    AlreadyCredited,
    InvalidAmount,
    InvalidReturnUrl,
    PaymentPageClosed,
    PaymentRefused,
    TooManyTopUps,
    TopUpLimitExceeded,
    TopUpUnavailable,
)
from ..models import Quote, TopUp
from ..models.top_ups import TopUpStatus
from ..providers import PaymentEvent, Provider, provider_for, provider_named, top_up_currencies
from ..selectors import balances_of, collected_from, credit_of
from ..webhooks import publish_top_up
from .funding import Payment, credit_wallet
from .ledger import require_wallet_currency

_PENDING, _FAILED = TopUpStatus.PENDING.value, TopUpStatus.FAILED.value
_SUCCEEDED, _DISPUTED = TopUpStatus.SUCCEEDED.value, TopUpStatus.DISPUTED.value
TOP_UP_TRANSITIONS = TransitionTable(
    "top_up",
    {
        # A payment may arrive after its page has closed.
        "succeed": ({_PENDING, _FAILED}, _SUCCEEDED),
        "fail": ({_PENDING}, _FAILED),
        "dispute": ({_SUCCEEDED}, _DISPUTED),
        # A dispute that was won, or lost for a part of the amount.
        "end_dispute": ({_DISPUTED}, _SUCCEEDED),
        "return": ({_SUCCEEDED, _DISPUTED}, TopUpStatus.RETURNED.value),
    },
)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class TopUpRequest:
    """The top-up that a user or an app requests.

    Args:
        currency: INR or USD.
        amount_minor: The amount.
        return_url: Where the payer is sent afterwards; empty for our own page.
        quote_id: The quote of the purchase that waits for it, whose price is guaranteed a while longer; empty for none.
    """

    currency: str
    amount_minor: int
    return_url: str = ""
    quote_id: str = ""


def request_top_up(
    *, user: User, wanted: TopUpRequest, idempotency_key: str | None = None, principal: Principal | None = None
) -> tuple[TopUp, bool]:
    """Ask a payment provider for a page on which the user pays; nothing is credited yet.

    The provider is called after the top-up is committed. If it does not answer, a repeated request asks it again.

    Args:
        user: The owner of the wallet.
        wanted: Amount, currency and where to return to.
        idempotency_key: A repeated call with the same key returns the same top-up.
        principal: The credential of an API request; None for a page.

    Returns:
        The top-up, and whether it is from an earlier call.

    Raises:
        InvalidAmount: it is too small, or the currency is not a wallet currency.
        InvalidReturnUrl: the return address does not belong to the app.
        TopUpUnavailable: no provider takes the currency.
        TopUpLimitExceeded: it is above a limit of the operator.
        TooManyTopUps: too many payment pages are open.
        NotFound: the account is not active, or the quote is not the user's.
        PaymentProviderUnavailable: the provider does not answer.
        PaymentRefused: the provider refuses the payment.
        PaymentPageClosed: the top-up of the earlier call ended before it had a page, or its provider is no longer used.
        IdempotencyConflict: another request with this key is in progress.
        IdempotencyKeyReused: the key belongs to another request.
    """
    request = None
    if idempotency_key is not None:
        requester_id = None if principal is None else principal.requester_id
        request = keyed_request(owner=user, requester_id=requester_id, key=idempotency_key, operation="wallet.top_up", **vars(wanted))
    if response := saved_response(request):
        top_up, replayed = TopUp.objects.get(pk=response["topUp"]), True
    else:
        top_up, replayed = _create(user, wanted, _check_request(wanted, principal), request, principal)
    if not top_up.payment_url and top_up.status == TopUpStatus.PENDING:
        top_up = _open_page(top_up)
    return top_up, replayed


def lock_top_up(*, top_up: TopUp) -> TopUp:
    """Return the top-up with its buyer, who is locked first, as in a quote and in the deletion of the account.

    Raises:
        NotFound: there is none.
    """
    lock(User.objects.all(), pk=top_up.user_id)
    return lock(TopUp.objects.select_related("user"), pk=top_up.pk)


def return_url_of(*, top_up: TopUp) -> str:
    """Return where the payer is sent after the payment."""
    return top_up.return_url or settings.BASE_URL + reverse("top-up", args=[top_up.pk])


def credit_top_up(*, top_up: TopUp, event: PaymentEvent) -> str:
    """Credit a top-up that was paid, in the caller's transaction, which has locked it; return what happened.

    Raises:
        Problem: the credit is refused, such as for a deleted account; the event is then recorded as refused, and `reconcile --provider` reports it.
    """
    if not TOP_UP_TRANSITIONS.allows(top_up, "succeed"):
        return f"ignored: it was {top_up.status} already"
    payment = Payment(event.payment, top_up.provider)
    try:
        journal = credit_wallet(
            user=top_up.user,
            currency=top_up.currency,
            amount_minor=top_up.amount_minor,
            reason="top-up",
            actor=None,
            payment=payment,
        )
    except AlreadyCredited:
        # Staff credited the payment by hand, unless another top-up did.
        known = credit_of(source=payment.source, reference=payment.reference)
        if known is None or TopUp.objects.filter(journal=known.journal).exists():
            raise
        journal = known.journal
    changes = {"payment_reference": event.payment, "paid_at": event.occurred_at, "journal": journal}
    TOP_UP_TRANSITIONS.apply(top_up, "succeed", actor=None, changes=changes, payment=event.payment)
    publish_top_up(top_up)
    facts: dict[str, Any] = {"amount_minor": top_up.amount_minor, "currency": top_up.currency}
    facts["balance_minor"] = balances_of(top_up.user)[top_up.currency]
    facts["collected_minor"] = collected_from(journal)
    mail(top_up.user, "wallet/topped_up", top_up=top_up, **facts)
    return "credited"


def fail_top_up(*, top_up: TopUp) -> str:
    """Mark a top-up as failed, in the caller's transaction, which has locked it; return what happened."""
    if not TOP_UP_TRANSITIONS.allows(top_up, "fail"):
        return f"ignored: it was {top_up.status} already"
    TOP_UP_TRANSITIONS.apply(top_up, "fail", actor=None)
    return "failed"


@transaction.atomic
def end_top_ups_of_app(*, user_id: uuid.UUID, app_id: uuid.UUID) -> None:
    """Mark as failed the pending top-ups that an app asked a user for; one that is paid all the same is credited."""
    lock(User.objects.all(), pk=user_id)
    pending = TopUp.objects.filter(user=user_id, app=app_id, status=TopUpStatus.PENDING)
    for top_up in pending.select_for_update(no_key=True).order_by("pk"):
        TOP_UP_TRANSITIONS.apply(top_up, "fail", actor=None)


def _check_request(wanted: TopUpRequest, principal: Principal | None) -> Provider:
    """Check what does not depend on the user's other top-ups, and return the provider."""
    require_wallet_currency(wanted.currency)
    if wanted.amount_minor < bounds.MIN_TOP_UP_MINOR:
        raise InvalidAmount(f"Add {money(bounds.MIN_TOP_UP_MINOR, wanted.currency)} or more.")
    _check_return_url(wanted.return_url, principal)
    provider = provider_for(wanted.currency)
    if provider is None:
        available = [code.value for code in top_up_currencies()]
        sentence = f"It can be added in {' and '.join(available)}." if available else "No payment provider is set up."
        raise TopUpUnavailable(sentence, availableCurrencies=available)
    return provider


def _check_return_url(url: str, principal: Principal | None) -> None:
    """Refuse an address that is neither ours nor of the origin of one of the app's redirect URIs."""
    if not url or (url.startswith(f"{settings.BASE_URL}/") and url.isascii() and url.isprintable()):
        return
    fault = uri_error(url)
    if not fault:
        app = None if principal is None else principal.app
        origins = set() if app is None else {origin_of(registered) for registered in app.redirect_uris.split()}
        fault = "" if origin_of(url) in origins else "It must have the origin of one of the app's redirect URIs."
    if fault:
        raise InvalidReturnUrl(fault)


@transaction.atomic
def _create(
    user: User, wanted: TopUpRequest, provider: Provider, request: KeyedRequest | None, principal: Principal | None
) -> tuple[TopUp, bool]:
    # Serialised with the user's other top-ups, so that limits are exact, and with the deletion of the account.
    user = lock(User.objects.filter(is_active=True), pk=user.pk)
    if response := saved_response(request):
        return TopUp.objects.get(pk=response["topUp"]), True
    _enforce_limits(user, wanted, principal)
    now = timezone.now()
    top_up = TopUp.objects.create(
        user=user,
        currency=wanted.currency,
        amount_minor=wanted.amount_minor,
        provider=provider.name,
        return_url=wanted.return_url,
        quote=_extend_quote(user, wanted),
        app=None if principal is None else principal.app,
        credential_kind="" if principal is None else principal.kind.value,
        created_at=now,
        expires_at=now + timedelta(minutes=bounds.TOP_UP_MINUTES),
    )
    facts: dict[str, Any] = {"currency": top_up.currency, "amountMinor": top_up.amount_minor, "provider": provider.name}
    audit.record("top_up.request", top_up, actor=user, to_state=top_up.status, **facts)
    if request is not None:
        save_response(request, {"topUp": str(top_up.pk)})
    return top_up, False


def _enforce_limits(user: User, wanted: TopUpRequest, principal: Principal | None) -> None:
    opened = open_top_ups_of(user.pk)
    # Each app has its own number of pages, so that none keeps the user or another app from asking.
    app = None if principal is None else principal.app
    maximum = bounds.MAX_OPEN_TOP_UPS if app is None else bounds.MAX_OPEN_TOP_UPS_OF_APP
    if opened.filter(app=app).count() >= maximum:
        raise TooManyTopUps(maximum=maximum)
    limits = settings.TOP_UP_LIMITS[wanted.currency]
    today = topped_up_since(user.pk, wanted.currency, timezone.now() - _DAY)
    waiting = opened.filter(currency=wanted.currency).aggregate(total=Sum("amount_minor"))["total"] or 0
    balance = balances_of(user).get(wanted.currency, 0) + waiting
    for name, most, used, sentence in (
        ("once", limits["once"], 0, "at once"),
        ("day", limits["day"], today, "within 24 hours, open payment pages included"),
        ("balance", limits["balance"], balance, "in the wallet, open payment pages included"),
    ):
        if used + wanted.amount_minor > most:
            left = max(most - used, 0)
            detail = f"At most {money(most, wanted.currency)} {sentence}; {money(left, wanted.currency)} is left."
            raise TopUpLimitExceeded(detail, limit=name, currency=wanted.currency, maximum=to_number(most), left=to_number(left))


def _extend_quote(user: User, wanted: TopUpRequest) -> Quote | None:
    """Return the quote that waits for the payment, with its price guaranteed a while longer, at most `WAITING_QUOTE_MINUTES` from its creation."""
    if not wanted.quote_id:
        return None
    quote = lock(Quote.objects.filter(owner=user, orders__isnull=True), pk=wanted.quote_id)
    now = timezone.now()
    if quote.expires_at <= now:
        raise NotFound
    longest = quote.created_at + timedelta(minutes=bounds.WAITING_QUOTE_MINUTES)
    quote.expires_at = max(quote.expires_at, min(longest, now + timedelta(minutes=bounds.TOP_UP_MINUTES + bounds.QUOTE_MINUTES)))
    quote.save(update_fields=["expires_at"])
    return quote


def _open_page(top_up: TopUp) -> TopUp:
    """Ask the provider for the page, outside of a transaction, and save its address."""
    provider = provider_named(top_up.provider)
    if provider is None or top_up.expires_at <= timezone.now():
        raise PaymentPageClosed
    try:
        page = provider.create_page(top_up, return_url_of(top_up=top_up))
    except PaymentRefused:
        with transaction.atomic():
            fail_top_up(top_up=lock(TopUp.objects.all(), pk=top_up.pk))
        raise
    TopUp.objects.filter(pk=top_up.pk, page_reference="").update(page_reference=page.reference, payment_url=page.url)
    top_up.refresh_from_db()
    return top_up
