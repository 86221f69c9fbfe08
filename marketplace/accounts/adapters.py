"""The account adapter: where our behaviour differs from allauth's."""

import re
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse

from marketplace.core import texts
from marketplace.http.client_address import client_network
from marketplace.ui.mail import LINK_MARK, as_html, as_text, with_signature

from .models import DELETED_DOMAIN, User

IN_USE = (
    "Another account was made with {email}, so the address was not confirmed for yours. To free it, sign in to that account, with a new password "
    "if you don't know it, and delete it."
)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Counts sign-in attempts by client network, refuses email addresses that we cannot keep, and formats the library's mails like our own."""

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's network, by which attempts are counted; only our own proxies are trusted."""
        return client_network(request)

    def clean_email(self, email: str) -> str:
        """Refuse an address that only a deleted account has, control characters, which a quoted local part may contain, and what the column would cut."""
        if re.search(f"[{texts.CONTROL}]", email) or email.lower().endswith(DELETED_DOMAIN):
            raise ValidationError("Enter a valid email address.", code="invalid")
        longest = User._meta.get_field("email").max_length
        if longest is not None and len(email) > longest:
            raise ValidationError(f"At most {longest} characters.", code="max_length")
        return str(super().clean_email(email))

    @transaction.atomic
    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Refuse a further address with which another account was made, confirmed or not: made primary, it would be the address of both."""
        if User.objects.filter(email=email_address.email).exclude(pk=email_address.user_id).exists():
            messages.error(request, IN_USE.format(email=email_address.email))
            return False
        return bool(super().confirm_email(request, email_address))

    def set_password(self, user: User, password: str) -> None:
        """Save nothing but the password, and not that of a deleted account: hashing takes long enough for staff to end it meanwhile."""
        user.set_password(password)
        User.objects.filter(pk=user.pk).exclude(email__endswith=DELETED_DOMAIN).update(password=user.password)

    def render_mail(self, template_prefix: str, email: str, context: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
        """Return a mail as text and HTML. Its links start with `BASE_URL`, whatever the request's host."""
        given = {"new_password_url": reverse("account_reset_password"), **context}
        ours = {name: _link(value) if name.endswith("_url") else value for name, value in given.items()}
        made = super().render_mail(template_prefix, email, ours, headers)
        body = with_signature(made.body)
        message = EmailMultiAlternatives(made.subject, as_text(body), made.from_email, made.to, headers=headers)
        message.attach_alternative(as_html(made.subject, body), "text/html")
        return message


def _link(address: str) -> str:
    parts = urlsplit(address)
    return f"{LINK_MARK}{settings.BASE_URL}{parts.path}{f'?{parts.query}' if parts.query else ''}"
