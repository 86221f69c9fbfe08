"""Uploads by the studio's forms: streamed like those of the API, but signed in by the session and with Django's CSRF check."""

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import CSRFCheck

from ..uploads.handler import OnePassHandler

TOKEN = "csrfmiddlewaretoken"


class FormRefused(Exception):
    """The CSRF check failed; the argument is the reason."""


def checked_form(request: HttpRequest, handler: OnePassHandler) -> list[str]:
    """Parse a form with a file and a CSRF token; a `FormReader` for `receive`.

    A form of another site is refused by its headers. The token is in the body: Django's check parses the form to find it, and
    passes the file to `handler`, the only upload handler, so that it is neither buffered nor written twice.

    Raises:
        FormRefused: it comes from another site, or its token is not that of the session.
    """
    request.upload_handlers = [handler]
    refusal = CSRFCheck(_passed).process_view(request, _passed, (), {})
    if refusal:
        raise FormRefused(refusal)
    return [str(name) for name in request.POST if name != TOKEN]


def _passed(_: HttpRequest) -> HttpResponse:
    """A view for `CSRFCheck`, which looks at the view for an exemption."""
    return HttpResponse()
