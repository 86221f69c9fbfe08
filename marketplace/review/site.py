"""The admin site: only admin classes derived from `MarketplaceModelAdmin` can be registered, and only staff can enter, by default with a second factor only."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models.base import ModelBase
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, reverse
from django.utils.module_loading import import_string

from marketplace.http.refusals import METHODS_ATTRIBUTE, allow_methods, declare_methods

from .base import MarketplaceModelAdmin


class MarketplaceAdminSite(AdminSite):
    """Ignores the admins of libraries: those of the OAuth and second-factor libraries show secrets."""

    site_title = "Creative Asset Marketplace"
    site_header = "Marketplace admin"

    def register(
        self,
        model_or_iterable: ModelBase | Iterable[ModelBase],
        admin_class: "type[ModelAdmin[Any]] | None" = None,
        **options: Any,
    ) -> None:
        """Register subclasses of `MarketplaceModelAdmin`; ignore other admins."""
        if admin_class is not None and issubclass(admin_class, MarketplaceModelAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Leave out the redirect to the page of any object: it asks for no permission, and fails for most."""
        urls: list[URLPattern | URLResolver] = super().get_urls()
        return [url for url in urls if getattr(url, "name", None) != "view_on_site"]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context: dict[str, Any] = super().each_context(request)
        if not context["has_permission"]:
            return context
        # Imported by name, because the menu contains every app and this package is below them.
        sections = import_string(settings.ADMIN_MENU)(request)
        menu_entry = next((entry for _, entries in sections for entry in entries if entry.current), None)
        return context | {"search_url": reverse("admin-search"), "menu": sections, "menu_entry": menu_entry}

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().index(request, {**import_string(settings.ADMIN_HOME)(request), **(extra_context or {})})

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the account pages, which have rate limits and mails."""
        return redirect("account_change_password")

    password_change_done = password_change

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the account pages, which ask for confirmation."""
        return redirect("account_logout")

    @declare_methods("GET")
    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return super().autocomplete_view(request)

    @declare_methods("GET")
    def i18n_javascript(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().i18n_javascript(request, extra_context)

    def admin_view(self, view: Callable[..., HttpResponseBase], cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        """Redirect staff without a second factor to its setup; an existing one is checked at sign-in."""
        inner = super().admin_view(view, cacheable)

        @declare_methods(*getattr(view, METHODS_ATTRIBUTE, ("GET", "POST")))
        @allow_methods("GET", "POST")
        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            # This package does not import the user model.
            user: Any = request.user
            lacks_second_factor = settings.ADMIN_REQUIRES_SECOND_FACTOR and self.has_permission(request) and not user.has_second_factor
            if lacks_second_factor:
                messages.error(request, "The admin requires an authenticator app. Set one up first.")
                return redirect("mfa_index")
            response: HttpResponseBase = inner(request, *args, **kwargs)
            return response

        return guarded
