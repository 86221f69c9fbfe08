"""An API of one viewset, and the addresses of one that does not declare access."""

from typing import ClassVar, cast

from django.urls import URLPattern, URLResolver, include, path
from rest_framework.request import Request
from rest_framework.response import Response

from developers.principals import Principal
from marketplace.api.views import ApiViewSet
from marketplace.core.access import PUBLIC, Access, api_key_only, bearer_only, key_or_bearer
from marketplace.core.scopes import Scope


class ProbeViewSet(ApiViewSet):
    """Answers who is calling."""

    access: ClassVar = {
        "public": PUBLIC,
        "keyed": api_key_only(Scope.CATALOG_READ),
        "either": key_or_bearer(Scope.ACCOUNT_READ),
        "vendor": bearer_only(Scope.VENDOR_MANAGE),
        "spend": key_or_bearer(Scope.WALLET_SPEND),
    }

    def who(self, request: Request) -> Response:
        """Answer who is calling."""
        principal = cast("Principal | None", request.auth)
        if principal is None:
            return Response({"user": None})
        return Response(
            {
                "user": str(request.user.pk),
                "app": str(principal.app_id) if principal.app_id else None,
                "kind": principal.kind,
            }
        )

    public = keyed = either = vendor = spend = who


class Undeclared(ProbeViewSet):
    """Declares access for one of its two operations only."""

    access: ClassVar[dict[str, Access]] = {"public": PUBLIC}


urlpatterns: list[URLPattern | URLResolver] = [
    path(f"api/v1/{action}", ProbeViewSet.as_view({"get": action, "post": action} if action == "spend" else {"get": action}), name=action)
    for action in ProbeViewSet.access
]
# What mails about decisions link to.
urlpatterns.append(path("", include("developers.dashboard.urls")))
