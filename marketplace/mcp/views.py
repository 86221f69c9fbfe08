"""The endpoint: one response to each message (Streamable HTTP without streams)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from marketplace.http.refusals import declare_methods

from . import responses
from .authentication import Caller, authenticate
from .messages import Message, parse_message
from .methods import perform
from .revisions import revision_of


@declare_methods("POST")
@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message of an MCP client."""
    try:
        caller = authenticate(request)
        message = parse_message(request)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, a client of the protocol is answered in its own form
        return responses.error_response(error, request)
    try:
        return _response(request, caller, message)
    except Exception as error:  # noqa: BLE001 - as above
        return responses.error_response(error, request, message.id)


def _response(request: HttpRequest, caller: Caller, message: Message) -> HttpResponse:
    revision = revision_of(request, message)
    if message.id is None:
        # Notifications are accepted and ignored.
        return HttpResponse(status=202)
    return responses.result_response(message.id, perform(request, caller, message, revision))
