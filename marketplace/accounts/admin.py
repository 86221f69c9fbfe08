"""Users in the admin. Staff sign in on the account pages, with their second factor and rate limits."""

from typing import Any

from allauth.account.decorators import secure_admin_login
from django import forms
from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group
from django.db.models import Count, ManyToManyField, Q, QuerySet
from django.http import HttpRequest

from marketplace.core.events import emit
from marketplace.http.refusals import allow_methods
from marketplace.review.base import MarketplaceModelAdmin
from marketplace.review.decisions import Decision, ReasonForm, service_decision
from marketplace.review.search import SearchQuery, starts_with
from marketplace.review.service import ServiceAdmin, staff_of

from . import services
from .events import AccountEffectsRequested
from .models import Tier, User

admin.site.login = allow_methods("GET", "POST")(secure_admin_login(admin.site.login))  # type: ignore[method-assign]  # allauth's documented way

DEACTIVATE = "accounts.deactivate_user"
GRANT_STAFF = "accounts.grant_staff_user"


class TierForm(ReasonForm):
    """Asks for the tier, and the reason."""

    tier = forms.TypedChoiceField(choices=Tier.choices, coerce=Tier)
    field_order = ("tier", "reason")


class StaffForm(ReasonForm):
    """Asks for the user's groups, and the reason."""

    groups = forms.ModelMultipleChoiceField(Group.objects.all(), required=False, widget=forms.CheckboxSelectMultiple)
    field_order = ("groups", "reason")


def _effects(user: User, *, is_deletion: bool) -> list[str]:
    """Return what ends with the account, collected from the apps above."""
    ending = AccountEffectsRequested(user.pk, is_deletion=is_deletion, effects=[])
    emit(ending)
    return ending.effects


@admin.register(User)
class UserAdmin(ServiceAdmin):
    """Accounts: tier, access, staff. Passwords are not shown, not even hashed; users reset their own."""

    list_display = ("email", "name", "tier", "is_active", "is_staff", "date_joined")
    list_filter = ("tier", "is_active", "is_staff")
    search_fields = ("email", "name")
    ordering = ("email",)
    found_title, found_detail = "email", "name"
    fields = ("email", "name", "tier", "is_active", "is_staff", "is_superuser", "groups", "date_joined", "last_login")
    decision_names = ("set_tier", "deactivate", "reactivate", "set_staff", "remove_staff", "remove_second_factor", "delete_account")

    def find(self, query: SearchQuery) -> list[Q]:
        """Search by id, email address, or the beginning of an email address or name."""
        if query.id:
            return [Q(pk=query.id)]
        by_address = [Q(email=query.text.lower()), starts_with("email", query.text.lower())]
        return by_address if query.email else [*by_address, starts_with("name", query.text)]

    set_tier = service_decision(
        Decision(
            "Change tier",
            "accounts.set_tier_user",
            "The user can buy what this tier allows, starting now.",
            "The tier was changed.",
            TierForm,
            available=lambda user: not user.deleted,
        ),
        services.set_tier,
        "user",
    )

    deactivate = service_decision(
        Decision(
            "Deactivate",
            DEACTIVATE,
            "The user is signed out everywhere and can no longer sign in; keys and tokens stop working at once. Purchases and listings are kept.",
            "The account was deactivated.",
            available=lambda user: user.is_active,
            danger=True,
            effects=lambda user: _effects(user, is_deletion=False),
        ),
        services.deactivate_user,
        "user",
    )

    reactivate = service_decision(
        Decision(
            "Reactivate",
            DEACTIVATE,
            "The user can sign in again; old sessions stay ended. Keys and tokens that were not revoked work again.",
            "The account was reactivated.",
            available=lambda user: not user.is_active and not user.deleted,
        ),
        services.reactivate_user,
        "user",
    )

    set_staff = service_decision(
        Decision(
            "Staff access",
            GRANT_STAFF,
            "The user can enter the admin with the permissions of these groups.",
            "Access was changed.",
            StaffForm,
            available=lambda user: not user.deleted,
        ),
        services.set_staff,
        "user",
    )

    remove_staff = service_decision(
        Decision(
            "Remove from staff",
            GRANT_STAFF,
            "The user can no longer enter the admin and loses every permission there.",
            "The user is no longer a staff member.",
            available=lambda user: user.is_staff,
            danger=True,
        ),
        services.remove_staff,
        "user",
    )

    remove_second_factor = service_decision(
        Decision(
            "Turn off two-factor sign-in",
            "accounts.remove_second_factor_user",
            "Use this for a user who has lost both the authenticator app and the recovery codes, and make sure first that it is the user "
            "who asks. The user is signed out everywhere, can sign in with the password alone, and gets an email about it.",
            "Two-factor sign-in was turned off.",
            available=lambda user: user.has_second_factor,
            danger=True,
        ),
        services.remove_second_factor,
        "user",
    )

    delete_account = service_decision(
        Decision(
            "Delete account",
            "accounts.erase_user",
            "Name, email addresses, applications and credentials are permanently removed. Orders, licences and the ledger are kept, without the name; "
            "invoices keep the name and address on them, and apps their names. "
            "This cannot be undone.",
            "The account was deleted.",
            available=lambda user: not user.deleted,
            danger=True,
            effects=lambda user: _effects(user, is_deletion=True),
        ),
        services.delete_account,
        "user",
    )


@admin.register(Group)
class GroupAdmin(MarketplaceModelAdmin, auth_admin.GroupAdmin):
    """Groups, which only superusers change: staff could otherwise grant themselves every permission."""

    # Without Django's scripts: checkboxes.
    filter_horizontal = ()
    formfield_overrides = {ManyToManyField: {"widget": forms.CheckboxSelectMultiple}}
    list_display = ("name", "members")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        groups: QuerySet[Any] = super().get_queryset(request).annotate(member_count=Count("user"))
        return groups

    def save_model(self, request: HttpRequest, obj: Group, form: Any, *_args: Any, **_kwargs: Any) -> None:
        services.set_group_permissions(group=obj, permissions=form.cleaned_data["permissions"], actor=staff_of(request))

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        services.delete_group(group=obj, actor=staff_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        for group in queryset:
            services.delete_group(group=group, actor=staff_of(request))

    @admin.display(description="Members", ordering="member_count")
    def members(self, group: Any) -> int:
        count: int = group.member_count
        return count

    def has_module_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Allow superusers."""
        return bool(request.user.is_active and getattr(request.user, "is_superuser", False))

    has_add_permission = has_view_permission = has_change_permission = has_delete_permission = has_module_permission
