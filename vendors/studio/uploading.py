"""Uploads by a page's own form: as streamed as the API's, behind the session and Django's check of forms."""

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import CSRFCheck

from ..uploads.handler import OnePassHandler

TOKEN = "csrfmiddlewaretoken"


class FormRefused(Exception):
    """The form is not one of ours, or too old; the argument is the reason."""


def checked_form(request: HttpRequest, upload: OnePassHandler) -> list[str]:
    """Read a form with a file and the token of the page beside it, for `receive`.

    A form of another site is refused by its headers. The token stands in the body: looking for it makes Django read the form, and
    hand the file to the one handler there is, so that it is neither kept in memory nor written a second time.

    Raises:
        FormRefused: it came from elsewhere, or its token is not that of the session.
    """
    request.upload_handlers = [upload]
    refusal = CSRFCheck(_passed).process_view(request, _passed, (), {})
    if refusal:
        raise FormRefused(refusal)
    return [str(name) for name in request.POST if name != TOKEN]


def _passed(_: HttpRequest) -> HttpResponse:
    """Stand for the view, which the check asks whether it is to be checked at all."""
    return HttpResponse()
