"""The admin site: it takes our own admin classes only."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models.base import ModelBase

if TYPE_CHECKING:
    Site = AdminSite
    OurAdmin = ModelAdmin
else:
    from unfold.admin import ModelAdmin as OurAdmin
    from unfold.sites import UnfoldAdminSite as Site


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
