"""The account adapter: where our behaviour differs from allauth's."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMultiAlternatives
from django.http import HttpRequest

from marketplace.http.client_address import client_network
from marketplace.ui.mail import as_html, with_signature

from .models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Counts sign-in attempts by the caller's real address, keeps addresses whole, and makes the library's mails look like ours."""

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return what limits are counted by: proxies are believed only where they are ours, an IPv6 network is one client."""
        return client_network(request)

    def clean_email(self, email: str) -> str:
        """Refuse an address that is longer than we can keep: the library would cut it, and it would be someone else's."""
        longest = User._meta.get_field("email").max_length
        if longest is not None and len(email) > longest:
            raise ValidationError(f"At most {longest} characters.", code="max_length")
        return str(super().clean_email(email))

    def format_email_subject(self, subject: str) -> str:
        """Return the subject as it is written, as all our mails have it."""
        return subject.strip()

    def render_mail(self, template_prefix: str, email: str, context: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
        """Return a mail of two forms, as all of ours are. Its links lead to our own address, whatever host the request named."""
        ours = {name: _at_home(value) if name.endswith("_url") else value for name, value in context.items()}
        made = super().render_mail(template_prefix, email, ours, headers)
        body = with_signature(made.body)
        message = EmailMultiAlternatives(made.subject, body, made.from_email, made.to, headers=headers)
        message.attach_alternative(as_html(made.subject, body), "text/html")
        return message


def _at_home(address: str) -> str:
    place = urlsplit(address)
    return f"{settings.BASE_URL}{place.path}{f'?{place.query}' if place.query else ''}"
