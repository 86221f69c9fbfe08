"""The endpoint: one response to each message (Streamable HTTP without streams)."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from marketplace.http.refusals import declare_methods

from . import responses
from .authentication import authenticate
from .messages import parse_message
from .method_calls import MethodCall
from .methods import perform
from .revisions import revision_of


@declare_methods("POST")
@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message of an MCP client."""
    try:
        principal, limits_checked = authenticate(request)
        message = parse_message(request)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, a client of the protocol is answered in its own form
        return responses.error_response(error, request)
    try:
        revision = revision_of(request, message)
        if message.id is None:
            # Notifications are accepted and ignored.
            return HttpResponse(status=202)
        call = MethodCall(request, principal, limits_checked=limits_checked, revision=revision, params=message.params)
        return responses.result_response(message.id, perform(call, message.method))
    except Exception as error:  # noqa: BLE001 - as above
        return responses.error_response(error, request, message.id)
