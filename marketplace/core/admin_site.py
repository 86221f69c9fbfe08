"""The admin site: it takes our own admin classes only, and staff with a second factor only."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models.base import ModelBase
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

if TYPE_CHECKING:
    Site = AdminSite
    OurAdmin = ModelAdmin
else:
    from unfold.admin import ModelAdmin as OurAdmin
    from unfold.sites import UnfoldAdminSite as Site


# Staff look at what strangers wrote: nothing on these pages comes from, or goes to, another origin. The theme's own scripts
# are written into its pages and evaluate words of them, hence the two exceptions.
CONTENT_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class MarketplaceAdminSite(Site):
    """Admins that libraries bring along are left out: those of the OAuth and second-factor libraries show secrets."""

    def register(
        self,
        model_or_iterable: ModelBase | Iterable[ModelBase],
        admin_class: "type[ModelAdmin[Any]] | None" = None,
        **options: Any,
    ) -> None:
        """Register an admin that is built on the theme's; leave out any other."""
        if admin_class is not None and issubclass(admin_class, OurAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Add the search that stands on every page."""
        context: dict[str, Any] = super().each_context(request)
        return context | {"search_url": reverse("admin-search") if self.has_permission(request) else ""}

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        """Send staff who have set up no second factor to do so first; one that is set up was asked for at sign-in."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            missing = settings.ADMIN_REQUIRES_SECOND_FACTOR and self.has_permission(request) and not is_mfa_enabled(request.user)
            if missing:
                messages.error(request, "The admin is for accounts with an authenticator app: set yours up first.")
                return redirect("mfa_index")
            response = inner(request, *args, **kwargs)
            response.headers.setdefault("Content-Security-Policy", CONTENT_POLICY)
            return response

        return guarded
