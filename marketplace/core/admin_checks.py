"""Start-up checks of the admin."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin.checks import ModelAdminChecks
from django.core import checks
from django.db.models import Model


class PermissionChecks(ModelAdminChecks):
    """Each decision names a permission that some model declares."""

    def check(self, admin_obj: Any, **kwargs: Any) -> list[checks.CheckMessage]:
        """Return what Django finds, and an error for each decision without a permission or with an unknown one."""
        return [*super().check(admin_obj, **kwargs), *self._check_decisions(admin_obj)]

    def _check_decisions(self, admin_obj: Any) -> Iterator[checks.CheckMessage]:
        known = {f"{model._meta.app_label}.{name}" for model in apps.get_models() for name in _permissions_of(model)}
        for name in admin_obj.decision_names:
            named = getattr(admin_obj, name).decision.permission
            if named not in known:
                message = f"{type(admin_obj).__qualname__}.{name} names no permission, or one that does not exist: {named}."
                yield checks.Error(message, obj=type(admin_obj), id="core.E001")


def _permissions_of(model: type[Model]) -> Iterator[str]:
    yield from (f"{verb}_{model._meta.model_name}" for verb in model._meta.default_permissions)
    yield from (codename for codename, _ in model._meta.permissions)
