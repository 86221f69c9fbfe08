"""The problems that clients can act on: each class has a stable code and a status.

Apps add their own in `<app>/errors.py`; codes are unique. Services raise them, and
`marketplace.api.problems` renders them as `application/problem+json`.
"""

from collections.abc import Mapping, Sequence
from http.client import responses
from typing import Any, ClassVar

from django.utils.text import camel_case_to_spaces

_PROBLEMS: dict[str, type["Problem"]] = {}
# From the tus protocol.
_OTHER_STATUSES = {460: "Checksum Mismatch"}


class Problem(Exception):
    """Base of errors that clients can act on.

    The docstring of a class begins with `<status>: <sentence>`, which its page `/problems/<code>` shows.

    Args:
        detail: What happened and what to do next; by default the class's `detail`.
        headers: Further headers of the response.
        **members: Extension members of the problem document, JSON values.
    """

    status: ClassVar[int] = 400
    title: ClassVar[str] = ""
    detail: ClassVar[str] = ""
    code: ClassVar[str] = ""
    # Templates use the classes themselves.
    do_not_call_in_templates: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = camel_case_to_spaces(cls.__name__).replace(" ", "_")
        taken = _PROBLEMS.setdefault(cls.code, cls)
        if taken is not cls and taken.__qualname__ != cls.__qualname__:
            message = f"problem code {cls.code} is taken by {taken!r}"
            raise TypeError(message)

    def __init__(self, detail: str = "", *, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        self.message = detail or type(self).detail or self.title
        self.headers = dict(headers or {})
        self.members = members
        super().__init__(self.message)


def status_line(status: int) -> str:
    """Return a status with its name, such as `404 Not Found`."""
    return f"{status} {responses.get(status) or _OTHER_STATUSES[status]}"


def all_problems() -> dict[str, type[Problem]]:
    """Return all problem classes by code, sorted."""
    return dict(sorted(_PROBLEMS.items()))


class InvalidInput(Problem):
    """400: `errors` lists the invalid fields by pointer."""

    status = 400
    title = "The request is not valid"
    detail = "Correct what each error names, then send the request again."

    def __init__(self, detail: str = "", **members: Any) -> None:
        super().__init__(detail or _summary_of(members.get("errors", ())), **members)


def _summary_of(errors: Sequence[Mapping[str, str]]) -> str:
    """Return the first error and the number of errors as a text."""
    if not errors:
        return ""
    sentence = f"{errors[0]['pointer']}: {errors[0]['detail']}"
    return f"{sentence} This is the first of {len(errors)} errors." if len(errors) > 1 else sentence


class MalformedBody(Problem):
    """400: the body cannot be read at all."""

    status = 400
    title = "The body cannot be read"
    detail = "Send a JSON object in UTF-8 with Content-Type: application/json."


class MalformedRequest(Problem):
    """400: the request line, a header or the encoding is not acceptable."""

    status = 400
    title = "The request cannot be read"
    detail = "A header, the host name or the encoding is not acceptable."


class NotAuthenticated(Problem):
    """401: a credential is required."""

    status = 401
    title = "A credential is required"
    detail = "Send an API key in X-Api-Key or a token in Authorization: Bearer."


class InvalidCredential(Problem):
    """401: the credential is unknown, revoked, expired or not accepted by this endpoint."""

    status = 401
    title = "The credential is not valid here"
    detail = "It is unknown, expired, revoked, or of a kind that this endpoint does not accept."


class AmbiguousCredentials(Problem):
    """400: the request has both a key and a token."""

    status = 400
    title = "Two credentials in one request"
    detail = "Send either X-Api-Key or Authorization, not both."


class InsufficientScope(Problem):
    """403: the credential lacks `requiredScope`."""

    status = 403
    title = "The credential lacks a scope"
    detail = "Request the missing scope, then use a new key or token."

    def __init__(self, detail: str = "", *, requiredScope: str, **members: Any) -> None:  # noqa: N803 - the member's name
        detail = detail or f"Request the scope {requiredScope}, then use a new key or token."
        super().__init__(detail, requiredScope=requiredScope, **members)


class PermissionDenied(Problem):
    """403: the user lacks a permission."""

    status = 403
    title = "Not allowed"
    detail = "Your account lacks the permission for this action."


class NotFound(Problem):
    """404: it does not exist or belongs to someone else; the response does not reveal which."""

    status = 404
    title = "Not found"
    detail = "It does not exist, or you have no access to it."


class MethodNotAllowed(Problem):
    """405: the `Allow` header lists the methods."""

    status = 405
    title = "The method is not allowed here"
    detail = "Use one of the methods in the Allow header."


class RequestTimeout(Problem):
    """408: the body did not arrive in time."""

    status = 408
    title = "The body arrived too slowly"
    detail = "Nothing was done. Send the request again over a faster connection."


class IdempotencyConflict(Problem):
    """409: the first request with the key is still in progress."""

    status = 409
    title = "A request with this Idempotency-Key is still in progress"
    detail = "Send the request again after the number of seconds in Retry-After."


class IdempotencyKeyReused(Problem):
    """422: the key belongs to another request."""

    status = 422
    title = "The Idempotency-Key was used for another request"
    detail = "Use a new key for a new request. To repeat a request, send exactly the same body."


class InvalidTransition(Problem):
    """409: the state, `currentState` where there is one, does not allow the change."""

    status = 409
    title = "The state does not allow this"
    detail = "It has changed in the meantime, or this action is not possible in its current state. Reload it."


class SelfReview(Problem):
    """409: reviewers cannot decide on their own work."""

    status = 409
    title = "You cannot review your own work"
    detail = "Another reviewer must decide on this."


class LengthRequired(Problem):
    """411: the body has no Content-Length."""

    status = 411
    title = "The length of the body must be stated"
    detail = "Send a Content-Length header; chunked bodies are not accepted."


class PreconditionFailed(Problem):
    """412: `If-Match` does not contain the current ETag."""

    status = 412
    title = "The resource has changed"
    detail = (
        "It has changed since you read the ETag in If-Match. Read it again, then repeat your change with the new ETag if it still fits."
    )


class BodyTooLarge(Problem):
    """413: the body has more than `maximumBytes`."""

    status = 413
    title = "The body is too large"
    detail = "Send a smaller body."

    def __init__(self, *, maximumBytes: int) -> None:  # noqa: N803 - the member's name
        super().__init__(f"Send at most {maximumBytes:,} bytes.", maximumBytes=maximumBytes)


class AddressTooLong(Problem):
    """414: path and query have more than `maximumBytes`."""

    status = 414
    title = "The address is too long"
    detail = "Send a shorter path or fewer and shorter query parameters."


class UnsupportedType(Problem):
    """415: the content has an unsupported type, whatever its file name."""

    status = 415
    title = "The type is not supported"
    detail = "Send one of the types listed in the API reference for this endpoint."


class RangeNotSatisfiable(Problem):
    """416: the range is outside of the file, whose length is `size`."""

    status = 416
    title = "The requested range is outside the file"
    detail = "Request a range that starts before the end; size is the length of the file."


class RateLimited(Problem):
    """429: a rate limit is exceeded; `Retry-After` tells when to try again."""

    status = 429
    title = "Too many requests"
    detail = "Wait for the number of seconds in Retry-After, then send the request again."


class HeadersTooLarge(Problem):
    """431: one header, or all headers together, have more than `maximumBytes`."""

    status = 431
    title = "The headers are too large"
    detail = "Send fewer or shorter headers; in a browser, delete the cookies of this site."


class InternalError(Problem):
    """500: an unexpected error, without internal details."""

    status = 500
    title = "Something went wrong on our side"
    detail = "It was logged under the ID of this request. Try again; if it happens again, report that ID."


class Overloaded(Problem):
    """503: the service is overloaded and did nothing; `Retry-After` tells when to try again."""

    status = 503
    title = "The service is busy"
    detail = "Too many requests are waiting. Try again after the number of seconds in Retry-After."


class DependencyUnavailable(Problem):
    """503: a database, cache or store is down; `Retry-After` tells when to try again."""

    status = 503
    title = "A part of the service is unavailable"
    detail = "Try again after the number of seconds in Retry-After."
