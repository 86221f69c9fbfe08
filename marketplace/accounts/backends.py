"""The authentication backend: reads the signed-in user, and for staff also their permissions, in one query."""

import uuid
from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission
from django.db.models import Aggregate, Case, CharField, Exists, JSONField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Concat

from .models import User

_LABEL = Concat("content_type__app_label", Value("."), "codename", output_field=CharField())


class _JsonArrayAgg(Aggregate):
    """Aggregates values into a JSON array."""

    function = "JSONB_AGG"
    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Use SQLite's function."""
        return self.as_sql(compiler, connection, function="JSON_GROUP_ARRAY", **context)


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth ships no types
    """Signs in by address and password, as allauth does."""

    def get_user(self, user_id: uuid.UUID) -> User | None:
        """Return the signed-in user, with `has_second_factor` and, for staff, their permissions."""
        factors = Authenticator.objects.filter(user=OuterRef("pk"))
        labels = _permissions_of(OuterRef(OuterRef("pk"))).annotate(all=Value(1)).values("all").annotate(labels=_JsonArrayAgg(_LABEL))
        known = {"has_second_factor": Exists(factors), "labels": Case(When(is_staff=True, then=Subquery(labels.values("labels"))))}
        user: Any = User.objects.annotate(**known).filter(pk=user_id).first()
        if user is None or not self.user_can_authenticate(user):
            return None
        if user.is_staff and not user.is_superuser:
            user._perm_cache = {*(user.labels or ())}
        return user  # type: ignore[no-any-return]  # a user with what was annotated

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        """Return the user's own permissions and those of their groups."""
        if obj is not None or not user_obj.is_active or user_obj.is_anonymous or user_obj.is_superuser:
            every: set[str] = super().get_all_permissions(user_obj, obj)
            return every
        if not hasattr(user_obj, "_perm_cache"):
            user_obj._perm_cache = {*_permissions_of(user_obj.pk).values_list(_LABEL, flat=True)}
        permissions: set[str] = user_obj._perm_cache
        return permissions


def _permissions_of(user: Any) -> QuerySet[Permission]:
    own = User.user_permissions.through.objects.filter(user=user).values("permission")
    of_groups = Group.permissions.through.objects.filter(group__user=user).values("permission")
    return Permission.objects.order_by().filter(Q(pk__in=own) | Q(pk__in=of_groups))
