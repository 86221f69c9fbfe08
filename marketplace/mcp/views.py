"""The endpoint: one message in, one answer out (Streamable HTTP without streams)."""

import logging

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from marketplace.api.problems import as_problem
from marketplace.http.refusals import declare_methods

from . import responses
from .authentication import Caller, authenticate
from .messages import Message, parse_message
from .methods import perform
from .revisions import revision_of

logger = logging.getLogger(__name__)


@declare_methods("POST")
@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message of an MCP client."""
    try:
        caller = authenticate(request)
        message = parse_message(request)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, a client of the protocol is answered in its own form
        return _error_response(error, request)
    try:
        return _response(request, caller, message)
    except Exception as error:  # noqa: BLE001 - as above
        return _error_response(error, request, message.id)


def _response(request: HttpRequest, caller: Caller, message: Message) -> HttpResponse:
    revision = revision_of(request, message)
    if message.id is None:
        # Notifications are accepted and ignored.
        return HttpResponse(status=202)
    return responses.result_response(message.id, perform(request, caller, message, revision))


def _error_response(error: Exception, request: HttpRequest, message_id: responses.MessageId = None) -> HttpResponse:
    if not isinstance(error, responses.ProtocolError) and as_problem(error).status >= 500:
        logger.error("a message at %s failed", request.path, exc_info=error)
    return responses.error_response(error, request, message_id)
