"""Where our ways differ from allauth's own."""

from allauth.account.adapter import DefaultAccountAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from marketplace.core.client_address import client_network

from .models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Counts sign-in attempts by the caller's real address, keeps addresses whole, writes mail subjects without a host name."""

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
