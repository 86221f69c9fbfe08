"""Apps and tokens with `wallet:spend`, and their limits."""

from typing import Any

from developers.models import AccessToken, ApiKey, App, SpendingLimit
from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.access import CredentialKind
from marketplace.core.ids import new_id
from marketplace.core.scopes import Scope
from tests.factories import AppFactory

SPEND = frozenset({Scope.WALLET_SPEND})


def personal(user: User) -> Principal:
    token = AccessToken.objects.create(
        user=user,
        kind="personal",
        name="Shopping agent",
        scope="wallet:spend",
        token_checksum=new_id().hex,
        expires="2099-01-01T00:00:00Z",
        token="",
    )
    return Principal(user, None, SPEND, CredentialKind.PERSONAL, token)


def connected(user: User, app: App | None = None) -> Principal:
    return Principal(user, app or AppFactory(), SPEND, CredentialKind.OAUTH, AccessToken(id=new_id()))


def own_key(user: User, app: App | None = None) -> Principal:
    return Principal(user, app or AppFactory(user=user), SPEND, CredentialKind.API_KEY, ApiKey(id=new_id()))


def limit(principal: Principal, *, currency: str = "INR", app_limit: bool = False, **limit_values: Any) -> SpendingLimit:
    """Bound what a program may spend: by the wallet's owner, or by staff."""
    subject = {"token_id": principal.credential.pk} if principal.app is None else {"app": principal.app}
    owner = None if app_limit else principal.user
    return SpendingLimit.objects.create(owner=owner, currency=currency, set_by=principal.user, **subject, **limit_values)
