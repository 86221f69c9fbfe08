"""The WSGI application: `granian --interface wsgi marketplace.wsgi:application`."""

import gc
import os
from collections.abc import Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver
from django.utils.module_loading import import_string

from marketplace.core.database import limit_statements
from marketplace.http.client_address import is_from_proxy
from marketplace.http.request_body import RequestBody, is_buffered

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.production")

_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "iso-8859-1"})
_django = get_wsgi_application()
limit_statements()
# By name: it can be loaded once every app is there.
import_string("marketplace.jobs.in_server.start_worker_thread")()
# What is loaded stays until the process ends: looking through it at each full collection would keep requests waiting for a tenth of a second.
get_resolver().url_patterns  # noqa: B018 - loads every view
gc.collect()
gc.freeze()
# A request leaves a few hundred objects that refer to each other. Collecting after every 700 new ones takes a tenth of the time of a response.
gc.set_threshold(10_000)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer a request, whatever its content type says.

    Django reads the address by the charset that the body claims, any that Python knows, before it can answer with an error:
    `charset=idna` would be a crash of its own, and with `charset=iso-8859-1` one address would have two meanings. So addresses are
    UTF-8, as all else is, and a body of another kind counts as one of an unknown kind.
    """
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length:
        body = environ["wsgi.input"] = RequestBody(environ["wsgi.input"], buffered=is_buffered(environ))
        if environ.get("SERVER_SOFTWARE") == "Granian":
            start_response = _announcing_close(body, start_response, length)
    # From here on it is another than the proxy saw.
    if ";" in environ.get("CONTENT_TYPE", ""):
        environ["CONTENT_TYPE"] = _without_charset(environ["CONTENT_TYPE"])
    response = _django(environ, start_response)
    return _discarding(body, response) if length and body.received < length and is_from_proxy(environ) else response


def _discarding(body: RequestBody, response: Any) -> Iterable[bytes]:
    """Yield the response, and then read what is left of the body."""
    try:
        yield from response
    finally:
        response.close()
    body.discard()


def _announcing_close(body: RequestBody, start_response: Any, length: int) -> Any:
    """Return a `start_response` that announces the end of a connection whose body was refused unread.

    Granian then closes it without a word, and a client that has sent its next request on it by then sees that one fail.
    The header is the server's to send, by PEP 3333; this one sends it when it is told to, others refuse it.
    """

    def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
        if body.received < length:
            headers = [*headers, ("Connection", "close")]
        return start_response(status, headers, *exc_info)

    return start


def _without_charset(content_type: str) -> str:
    kind, *parameters = content_type.split(";")
    kept = [kind]
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        name = name.strip().lower()
        # An asterisk announces a charset of the parameter's own (RFC 2231).
        if name.endswith("*") or (name == "charset" and value.strip().strip('"').lower() not in _CHARSETS):
            return "application/x-unreadable"
        if name != "charset":
            kept.append(parameter)
    return ";".join(kept)
