"""Where our ways differ from allauth's own."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from marketplace.core.client_address import client_address


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Counts sign-in attempts by the caller's real address and sends mails without a host name in the subject."""

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that limits are counted by: proxies are believed only where they are ours."""
        return client_address(request)

    def format_email_subject(self, subject: str) -> str:
        """Return the subject as it is written, as all our mails have it."""
        return subject.strip()
