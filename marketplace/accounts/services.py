"""Changes of accounts.

Staff must give a reason (`InvalidInput`) and cannot change their own account (`SelfReview`), nor one that was deleted (`InvalidTransition`).
Only superusers change the account of a superuser (`PermissionDenied`).
"""

from collections.abc import Iterable
from copy import copy
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import F
from django.db.models.signals import pre_save
from django.dispatch import receiver

from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, PermissionDenied, SelfReview
from marketplace.core.events import emit
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail

from .errors import AccountInUse
from .events import AccountDeleting
from .models import DELETED_DOMAIN, MailOptOut, Tier, User


@transaction.atomic
def set_tier(*, user: User, tier: Tier, reason: str, actor: User) -> User:
    """Set the account tier, which listings may require of a buyer.

    Raises:
        InvalidTransition: the user already has this tier.
    """
    return _change(user, "set_tier", reason, actor, tier=tier)


@transaction.atomic
def deactivate_user(*, user: User, reason: str, actor: User) -> User:
    """Deactivate an account: sign-in is refused and its sessions end.

    Its keys and tokens, and the tokens that other users gave to its apps, stop at the next request.

    Raises:
        InvalidTransition: it is already inactive.
    """
    user = _change(user, "deactivate", reason, actor, is_active=False, session_epoch=F("session_epoch") + 1)
    mail(user, "accounts/account_deactivated", reason=reason)
    return user


@transaction.atomic
def reactivate_user(*, user: User, reason: str, actor: User) -> User:
    """Reactivate an account; keys and tokens that were not revoked work again, old sessions do not.

    Raises:
        InvalidTransition: it is active.
    """
    user = _change(user, "reactivate", reason, actor, is_active=True)
    mail(user, "accounts/account_reactivated", reason=reason)
    return user


@transaction.atomic
def set_staff(*, user: User, groups: Iterable[Group], reason: str, actor: User) -> User:
    """Make a user a staff member with these groups, which replace earlier ones.

    Raises:
        PermissionDenied: the actor is not a superuser.
    """
    reason = texts.clean_text(reason, "reason")
    user = _lock_changeable(user, actor)
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
    """Remove a user from staff, with all groups and permissions, those of a superuser too.

    Raises:
        InvalidTransition: the user is not a staff member.
    """
    user = _change(user, "remove_staff", reason, actor, is_staff=False, is_superuser=False)
    user.groups.clear()
    user.user_permissions.clear()
    return user


@transaction.atomic
def set_group_permissions(*, group: Group, permissions: Iterable[Permission], actor: User) -> Group:
    """Save a new or changed group; its members have these permissions from now on."""
    verb, before = ("create", []) if group._state.adding else ("update", _permissions_of(group))
    group.save()
    group.permissions.set(permissions)
    audit.record(f"group.{verb}", group, actor=actor, name=group.name, before=before, after=_permissions_of(group))
    return group


@transaction.atomic
def delete_group(*, group: Group, actor: User) -> None:
    """Delete a group; its members lose the permissions that they had by it."""
    audit.record("group.delete", group, actor=actor, name=group.name, before=_permissions_of(group))
    group.delete()


@transaction.atomic
def rename_user(*, user: User, name: str, actor: User) -> User:
    """Set the name that a user is addressed by; empty for none.

    Raises:
        InvalidInput: the name is too long, or invalid.
        NotFound: the account is inactive.
    """
    user = lock(User.objects.filter(is_active=True), pk=user.pk)
    user.name = texts.clean_line(name, "name", required=False)
    user.save(update_fields=["name"])
    audit.record("user.rename", user, actor=actor)
    return user


@transaction.atomic
def end_sessions(*, user: User, actor: User | None) -> User:
    """End every session of a user; the caller renews the current one."""
    User.objects.filter(pk=user.pk).update(session_epoch=F("session_epoch") + 1)
    user.refresh_from_db(fields=["session_epoch"])
    audit.record("user.end_sessions", user, actor=actor)
    return user


@transaction.atomic
def remove_second_factor(*, user: User, reason: str, actor: User) -> User:
    """Turn off two-factor sign-in for a user who has lost the app and the recovery codes, and end the user's sessions.

    Raises:
        InvalidTransition: it is off.
        PermissionDenied: the user is a staff member, and the actor is not a superuser.
    """
    reason = texts.clean_text(reason, "reason")
    user = _lock_changeable(user, actor)
    if user.is_staff and not actor.is_superuser:
        raise PermissionDenied("Only a superuser can turn off a staff member's two-factor sign-in.")
    if not Authenticator.objects.filter(user=user).delete()[0]:
        raise InvalidTransition("Two-factor sign-in is off already.")
    user.session_epoch += 1
    user.save(update_fields=["session_epoch"])
    audit.record("user.remove_second_factor", user, actor=actor, reason=reason)
    mail(user, "accounts/second_factor_removed", reason=reason)
    return user


@transaction.atomic
def delete_account(*, user: User, reason: str, actor: User | None) -> User:
    """Delete an account permanently: personal data is erased; what the ledger and other users depend on is kept anonymously.

    The actor is the staff member who decides; None if the user asked for it.

    Raises:
        AccountInUse: the user is staff, or something must be settled first.
        InvalidTransition: it is already deleted.
    """
    reason = texts.clean_text(reason, "reason")
    user = lock(User.objects.all(), pk=user.pk) if actor is None else _lock_changeable(user, actor)
    if user.deleted:
        raise InvalidTransition("The account has already been deleted.")
    if user.is_staff or user.is_superuser:
        raise AccountInUse("The user is a staff member: remove that status first.")
    emit(AccountDeleting(user.pk))
    # Sent before the address is erased.
    mail(copy(user), "accounts/account_deleted")
    EmailAddress.objects.filter(user=user).delete()
    Authenticator.objects.filter(user=user).delete()
    user.email, user.name, user.is_active, user.last_login = f"{user.pk.hex}{DELETED_DOMAIN}", "", False, None
    # The sessions end with the password.
    user.set_unusable_password()
    user.save()
    MailOptOut.objects.filter(user=user).delete()
    user.groups.clear()
    user.user_permissions.clear()
    audit.record("user.delete", user, actor=actor, reason=reason)
    return user


@receiver(pre_save, sender=EmailAddress)
@receiver(pre_save, sender=Authenticator)
@transaction.atomic
def _lock_account(instance: EmailAddress | Authenticator, **_kwargs: Any) -> None:
    """Lock the account of what the library saves, which locks nothing: neither an address nor a second factor is left after a deletion."""
    lock(User.objects.exclude(email__endswith=DELETED_DOMAIN), pk=instance.user_id)


def _permissions_of(group: Group) -> list[str]:
    return [f"{app}.{codename}" for app, codename in group.permissions.values_list("content_type__app_label", "codename")]


def _lock_changeable(user: User, actor: User) -> User:
    user = lock(User.objects.all(), pk=user.pk)
    if user.pk == actor.pk:
        raise SelfReview("You can't change your own account here.")
    if user.is_superuser and not actor.is_superuser:
        raise PermissionDenied("Only a superuser can change a superuser's account.")
    if user.deleted:
        raise InvalidTransition("The account was deleted.")
    return user


def _change(user: User, verb: str, reason: str, actor: User, **changes: Any) -> User:
    """Apply the changes, and record the first of them in the audit log."""
    reason = texts.clean_text(reason, "reason")
    user = _lock_changeable(user, actor)
    field, value = next(iter(changes.items()))
    before = getattr(user, field)
    if before == value:
        raise InvalidTransition("Nothing to change: the account has this value already.")
    User.objects.filter(pk=user.pk).update(**changes)
    user.refresh_from_db(fields=list(changes))
    audit.record(f"user.{verb}", user, actor=actor, reason=reason, from_state=str(before), to_state=str(value))
    return user
