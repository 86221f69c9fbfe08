"""What staff change about an account: tier, access, staff. Each with a reason (`InvalidInput` without), and never one's own."""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import F

from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, PermissionDenied, SelfReview
from marketplace.core.events import emit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from .errors import AccountInUse
from .events import AccountDeleted
from .models import DELETED, Tier, User


@transaction.atomic
def set_tier(*, user: User, tier: Tier, reason: str, actor: User) -> User:
    """Set what the user may buy.

    Raises:
        InvalidTransition: the user has this tier.
        PermissionDenied: the user is above the actor.
        SelfReview: it is the actor's own account.
    """
    return _change(user, "set_tier", reason, actor, tier=tier)


@transaction.atomic
def deactivate_user(*, user: User, reason: str, actor: User) -> User:
    """Shut an account: no sign-in, its sessions end for good, its keys and tokens stop at the next request.

    Raises:
        InvalidTransition: it is shut already.
        PermissionDenied: the user is above the actor.
        SelfReview: it is the actor's own account.
    """
    user = _change(user, "deactivate", reason, actor, {"session_epoch": F("session_epoch") + 1}, is_active=False)
    mail(user, "accounts/account_shut", reason=reason)
    return user


@transaction.atomic
def reactivate_user(*, user: User, reason: str, actor: User) -> User:
    """Open a shut account again: one signs in anew; keys and tokens that nobody revoked work again, as after a suspension.

    Raises:
        InvalidTransition: it is open, or deleted.
        PermissionDenied: the user is above the actor.
        SelfReview: it is the actor's own account.
    """
    if _lock_below(user, actor).deleted:
        raise InvalidTransition("The account was deleted.")
    user = _change(user, "reactivate", reason, actor, is_active=True)
    mail(user, "accounts/account_opened", reason=reason)
    return user


@transaction.atomic
def set_staff(*, user: User, groups: Iterable[Group], reason: str, actor: User) -> User:
    """Let a user into the admin with the permissions of these groups, instead of those held before.

    Raises:
        PermissionDenied: the actor is no superuser, or the user is one.
        SelfReview: it is the actor's own account.
    """
    reason = texts.prose(reason, "reason")
    user = _lock_below(user, actor)
    if not actor.is_superuser:
        raise PermissionDenied("Only a superuser can assign permissions.")
    before = sorted(user.groups.values_list("name", flat=True))
    user.groups.set(groups)
    after = sorted(user.groups.values_list("name", flat=True))
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    audit.record("user.set_staff", user, actor=actor, reason=reason, before=before, after=after)
    return user


@transaction.atomic
def remove_staff(*, user: User, reason: str, actor: User) -> User:
    """Shut the admin to a user, who loses every permission there.

    Raises:
        InvalidTransition: the user is no staff.
        PermissionDenied: the user is above the actor.
        SelfReview: it is the actor's own account.
    """
    user = _change(user, "remove_staff", reason, actor, is_staff=False)
    user.groups.clear()
    user.user_permissions.clear()
    return user


@transaction.atomic
def rename_user(*, user: User, name: str, actor: User) -> User:
    """Set the name by which a user is greeted; empty for none.

    Raises:
        InvalidInput: the name is too long, or no name.
        NotFound: the account is shut.
    """
    user = lock(User.objects.filter(is_active=True), pk=user.pk)
    user.name = texts.line(name, "name", required=False)
    user.save(update_fields=["name"])
    audit.record("user.rename", user, actor=actor)
    return user


@transaction.atomic
def end_sessions(*, user: User, actor: User) -> User:
    """End every session of a user; who asks for it from one of them begins a new one."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
    user.refresh_from_db(fields=["session_epoch"])
    audit.record("user.end_sessions", user, actor=actor)
    return user


@transaction.atomic
def delete_account(*, user: User, reason: str, actor: User | None) -> User:
    """Delete an account for good: what is personal goes, what the ledger and others' rights rest on stays, under a name of nobody.

    Args:
        user: Whose.
        reason: Why; for the audit log.
        actor: Who decides; None when the user asked the operators for it.

    Raises:
        AccountInUse: the user is staff, or something must be settled first.
        InvalidTransition: it is deleted already.
        PermissionDenied: the user is above the actor.
        SelfReview: it is the actor's own account.
    """
    reason = texts.prose(reason, "reason")
    user = lock(User.objects.all(), pk=user.pk) if actor is None else _lock_below(user, actor)
    if user.deleted:
        raise InvalidTransition("The account has already been deleted.")
    if user.is_staff or user.is_superuser:
        raise AccountInUse("The user is a staff member: remove that status first.")
    emit(AccountDeleted(user.pk))
    # To the address that is forgotten now.
    mail(copy(user), "accounts/account_deleted")
    apps.get_model("account", "EmailAddress")._default_manager.filter(user=user).delete()
    apps.get_model("mfa", "Authenticator")._default_manager.filter(user=user).delete()
    user.email, user.name, user.is_active, user.last_login = f"{user.pk.hex}{DELETED}", "", False, None
    # The sessions end with the password.
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()
    audit.record("user.delete", user, actor=actor, reason=reason)
    return user


def _lock_below(user: User, actor: User) -> User:
    user = lock(User.objects.all(), pk=user.pk)
    if user.pk == actor.pk:
        raise SelfReview("You can't change your own account here.")
    if user.is_superuser and not actor.is_superuser:
        raise PermissionDenied("Only a superuser can change a superuser's account.")
    return user


def _change(user: User, verb: str, reason: str, actor: User, follows: Mapping[str, Any] | None = None, /, **change: Any) -> User:
    reason = texts.prose(reason, "reason")
    user = _lock_below(user, actor)
    ((field, value),) = change.items()
    before = getattr(user, field)
    if before == value:
        raise InvalidTransition("The account already has this status; someone else changed it first.")
    changes = {field: value, **(follows or {})}
    User.objects.filter(pk=user.pk).update(**changes)
    user.refresh_from_db(fields=list(changes))
    audit.record(f"user.{verb}", user, actor=actor, reason=reason, from_state=str(before), to_state=str(value))
    return user
