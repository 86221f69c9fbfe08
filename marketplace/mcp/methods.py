"""The methods of the protocol that this server supports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, SERVER_INFO_META_KEY
from pydantic import ValidationError

from developers.usage.middleware import record_status

from . import about, prompts, resources, skills
from .method_calls import MethodCall
from .responses import ProtocolError
from .revisions import SUPPORTED, WITH_HANDSHAKE, WITHOUT_HANDSHAKE
from .tools import calling

Result = dict[str, Any]
# Maximum number of errors in a response.
_MAX_ERRORS = 5


@dataclass(frozen=True)
class Method:
    """A method of the protocol."""

    # Returns the result.
    handler: Callable[[MethodCall], Result]
    # The revisions that have the method.
    revisions: tuple[str, ...] = SUPPORTED
    # For how long a client may keep the result, in milliseconds, and for whom; None: the protocol has no such hint for it.
    cache_hints: Mapping[str, Any] | None = None
    # The method of the core protocol with the same parameters; its own name if empty.
    parameters_of: str = ""


# What depends on the token's scopes may change at any moment.
_PRIVATE: Mapping[str, Any] = {"ttlMs": 0, "cacheScope": "private"}
_PUBLIC: Mapping[str, Any] = {"ttlMs": 3_600_000, "cacheScope": "public"}


def perform(call: MethodCall, name: str) -> Result:
    """Return the result of a method.

    Raises:
        ProtocolError: there is no such method, or its parameters are not those of the revision.
        Problem: what the method raises.
    """
    try:
        result = _result_of(call, name)
    except ProtocolError as error:
        if call.revision not in WITHOUT_HANDSHAKE:
            # Older clients treat any other status as the end of the connection.
            record_status(call.request, error.status)
            error.status = 200
        raise
    if call.revision not in WITHOUT_HANDSHAKE:
        return result
    meta = {**result.get("_meta", {}), SERVER_INFO_META_KEY: about.server_info()}
    # A result that asks for something first has a `resultType` of its own.
    return {"resultType": "complete", **result, **(METHODS[name].cache_hints or {}), "_meta": meta}


def _result_of(call: MethodCall, name: str) -> Result:
    method = METHODS.get(name)
    if method is None or call.revision not in method.revisions:
        raise ProtocolError(METHOD_NOT_FOUND, "Unknown method.", status=404)
    # Not imported with this module: its models take half a second to build, a third of the start of every management command. `wsgi` loads it.
    validate_client_request = import_string("mcp_types.methods.validate_client_request")
    try:
        validate_client_request(method.parameters_of or name, call.revision, call.params)
    except ValidationError as error:
        raise _invalid_params(error) from error
    return method.handler(call)


def _invalid_params(error: ValidationError) -> ProtocolError:
    errors = [
        {"at": ".".join(str(part) for part in found["loc"])[:200], "detail": found["msg"]}
        for found in error.errors(include_url=False, include_context=False, include_input=False)[:_MAX_ERRORS]
    ]
    return ProtocolError(INVALID_PARAMS, "The parameters don't match the method.", data={"errors": errors})


def _ping(_call: MethodCall) -> Result:
    return {}


METHODS: dict[str, Method] = {
    "server/discover": Method(about.discover, WITHOUT_HANDSHAKE, _PUBLIC),
    "initialize": Method(about.initialize, WITH_HANDSHAKE),
    "ping": Method(_ping, WITH_HANDSHAKE),
    "tools/list": Method(calling.list_tools, cache_hints=_PRIVATE),
    "tools/call": Method(calling.call_tool),
    "resources/list": Method(resources.list_resources, cache_hints=_PRIVATE),
    "resources/templates/list": Method(resources.list_templates, cache_hints=_PRIVATE),
    "resources/read": Method(resources.read_resource, cache_hints=_PRIVATE),
    # The extension for skills, which is for the newest revision.
    "skills/list": Method(skills.list_skills, WITHOUT_HANDSHAKE, _PRIVATE, "resources/list"),
    "skills/get": Method(skills.get_skill, WITHOUT_HANDSHAKE, _PRIVATE, "resources/read"),
    "prompts/list": Method(prompts.list_prompts, cache_hints=_PUBLIC),
    "prompts/get": Method(prompts.get_prompt),
    "completion/complete": Method(prompts.complete),
}
