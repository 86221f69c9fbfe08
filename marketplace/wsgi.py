"""The WSGI application: `granian --interface wsgi marketplace.wsgi:application`."""

import gc
import os
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections
from django.urls import get_resolver
from django.utils.module_loading import import_string

from marketplace.core.database import limit_statements
from marketplace.http.client_address import is_from_proxy
from marketplace.http.request_body import RequestBody, is_buffered

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.production")

if settings.METRICS_TOKEN and settings.METRICS_DIR:
    # The library reads this variable when it is imported. Commands do without: each would leave files, all of which every scrape reads.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = settings.METRICS_DIR

_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "iso-8859-1"})
_django = get_wsgi_application()
limit_statements()
# Imported by name, because models cannot be loaded before the apps are.
import_string("marketplace.operations.installation.refuse_other_database")()
# The thread that loads the application responds to no requests.
connections.close_all()
import_string("marketplace.jobs.in_server.start_worker_thread")()
# Loaded here, because an MCP client's first call would wait half a second for it; management commands do without.
import_string("mcp_types.methods.validate_client_request")
# Loaded modules stay until the process ends; scanning them in each full garbage collection would pause requests for a tenth of a second.
get_resolver().url_patterns  # noqa: B018 - loads every view
gc.collect()
gc.freeze()
# A request leaves a few hundred objects in reference cycles. Collecting after every 700 new ones takes a tenth of the time of a response.
gc.set_threshold(10_000)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Respond to a request.

    The charset in a Content-Type is removed, so that everything is read as UTF-8. One other than UTF-8, ASCII and Latin-1 makes the
    media type unknown, so that the body is refused.

    Django decodes the query string by the charset of the body, any that Python knows: `charset=idna` would raise an exception, and
    `charset=iso-8859-1` would give one address two meanings.
    """
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length:
        body = environ["wsgi.input"] = RequestBody(environ["wsgi.input"], buffered=is_buffered(environ))
        if environ.get("SERVER_SOFTWARE") == "Granian":
            start_response = _announcing_close(body, start_response, length)
    if ";" in environ.get("CONTENT_TYPE", ""):
        environ["CONTENT_TYPE"] = _without_charset(environ["CONTENT_TYPE"])
    response = _django(environ, start_response)
    return _discarding(body, response) if length and body.received < length and is_from_proxy(environ) else response


def _discarding(body: RequestBody, response: Any) -> Iterable[bytes]:
    """Yield the response, then discard the rest of the body."""
    try:
        yield from response
    finally:
        response.close()
    body.discard()


def _announcing_close(body: RequestBody, start_response: Any, length: int) -> Any:
    """Return a `start_response` that adds `Connection: close` if the body was not read.

    Granian closes such a connection without announcing it, so that a client's next request on it would fail. PEP 3333 leaves this
    header to the server; Granian accepts it from the application, other servers refuse it.
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
        # With an asterisk, the parameter has a charset of its own (RFC 2231).
        if name.endswith("*") or (name == "charset" and value.strip().strip('"').lower() not in _CHARSETS):
            return "application/x-unreadable"
        if name != "charset":
            kept.append(parameter)
    return ";".join(kept)
