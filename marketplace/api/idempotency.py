"""The Idempotency-Key header, and the decorator of actions that take it."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import orjson
from django.db import models, transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.core import bounds
from marketplace.core.encryption import decrypt, encrypt
from marketplace.core.errors import InvalidInput, Problem
from marketplace.core.idempotency import KeyedRequest, keyed_request, save_response, saved_response

from .rendering import OrjsonRenderer

IDEMPOTENCY_HEADER = "Idempotency-Key"
REPLAYED_HEADER = "Idempotent-Replayed"
# Bare, or a quoted string as in the IETF draft.
_KEY = re.compile(rf'[!#-~][!-~]{{0,{bounds.IDEMPOTENCY_KEY_CHARS - 1}}}|"[!-~]{{1,{bounds.IDEMPOTENCY_KEY_CHARS}}}"')
IDEMPOTENCY_PARAMETER = OpenApiParameter(
    IDEMPOTENCY_HEADER,
    {"type": "string", "pattern": f"^(?:{_KEY.pattern})$", "minLength": 1, "maxLength": bounds.IDEMPOTENCY_KEY_CHARS + 2},
    OpenApiParameter.HEADER,
    description="Printable ASCII without spaces, up to 255 characters, in double quotes or without. Within 24 hours, a repeated request returns "
    "the first response.",
)


def idempotency_key(request: Request) -> str | None:
    """Return the key of the request without quotes.

    Raises:
        InvalidInput: it is empty or too long, or has characters other than printable ASCII without spaces.
    """
    given = request.headers.get(IDEMPOTENCY_HEADER)
    if given is None:
        return None
    if not _KEY.fullmatch(given):
        sentence = f"1 to {bounds.IDEMPOTENCY_KEY_CHARS} printable ASCII characters without spaces."
        raise InvalidInput(errors=[{"pointer": IDEMPOTENCY_HEADER, "code": "invalid", "detail": sentence}])
    return given[1:-1] if given.startswith('"') else given


Action = Callable[..., Response]
_PURPOSE = "idempotency"


def idempotent(action: Action) -> Action:
    """Let an action take an Idempotency-Key: a repeated request gets the first response, and changes nothing.

    The action runs in the transaction that saves its response, so it must be quick. Responses are encrypted, as some have secrets.
    """

    @wraps(action)
    def run(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = idempotency_key(request)
        if key is None:
            return action(view, request, *args, **kwargs)
        keyed = keyed_request(
            owner=cast("models.Model", request.user),
            key=key,
            operation=f"{request.method} {request.get_full_path()}",
            requester_id=getattr(request.auth, "requester_id", None),
            body=request.data,
        )
        try:
            with transaction.atomic():
                if (replayed := _replayed(keyed)) is not None:
                    return replayed
                response = action(view, request, *args, **kwargs)
                saved = OrjsonRenderer().render({"body": response.data, "etag": response.get("ETag")}).decode()
                save_response(keyed, {"encrypted": encrypt(saved, purpose=_PURPOSE)})
                return response
        except Problem:
            # A concurrent duplicate may have been first, and be the reason.
            if (replayed := _replayed(keyed)) is not None:
                return replayed
            raise

    return documents_idempotency_key(run)


def documents_idempotency_key(action: Action) -> Action:
    """Document that an action takes an Idempotency-Key."""
    action.takes_idempotency_key = True  # type: ignore[attr-defined]  # for the OpenAPI document
    return action


def _replayed(keyed: KeyedRequest) -> Response | None:
    """Return the response of an earlier request, None if there is none."""
    saved = saved_response(keyed)
    if saved is None:
        return None
    first = orjson.loads(decrypt(saved["encrypted"], purpose=_PURPOSE))
    etag = {"ETag": first["etag"]} if first["etag"] else {}
    return Response(first["body"], headers={REPLAYED_HEADER: "true", **etag})
