"""The targets of attacks: every operation of the API, every tool, the OAuth endpoints, every page and every form on it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, cycle, islice
from typing import Any
from urllib.parse import parse_qsl, urlencode

from bs4 import BeautifulSoup
from django.db.models import Sum
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve

from catalog.filters import MAX_VALUES
from catalog.models import Category, ListingCount, Store
from developers import bounds as developers_bounds
from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.scopes import Scope
from marketplace.mcp.tools.calling import TOOLS
from tests.architecture.source import patterns
from tests.contract.calls import body_of, document, document_of, path_of, query_of
from tests.contract.generated import CALLERS
from tests.contract.scenes import SCENES
from tests.contract.shapes import Auth, Operation
from tests.mcp.speaking import Speaker, mcp_token
from tests.web.world import CALLBACK, World

from . import shapes
from .costs import Target
from .shapes import Shape

# Forms that are read, by the service and by the endpoints of OAuth.
FORM, OAUTH_FORM = bounds.FORM_BYTES - 1, developers_bounds.OAUTH_BODY_BYTES - 1
# With which credentials operations are called: nobody's, and one that is let in.
LET_IN = {Auth.NONE: "vendor's token", Auth.KEY: "API key", Auth.KEY_OR_BEARER: "API key", Auth.BEARER: "vendor's token"}
FEW_OF_REFUSED = 40
# What goes with the filters of the catalog.
OF_BROWSING, OF_SEARCHING = ["limit", "facets", "sort"], ["limit", "facets", "q"]
# Fields that pages of lists take in their address.
OF_LISTS = ("q", "page", "p", "o", "sort", "next", "_changelist_filters", "_popup", "all")


# Answered before any route is looked up.
OF_PROBES = ("/healthz", "/readyz", "/metrics")


def inlined(schema: Any) -> Any:
    """Return a schema of the document without references."""
    if isinstance(schema, list):
        return [inlined(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return inlined(document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    merged: dict[str, Any] = {}
    for part in schema.get("allOf", ()):
        merged |= inlined(part)
    return merged | {name: inlined(value) for name, value in schema.items() if name != "allOf"}


def api_targets(operation: Operation, size: int, few: int | None) -> Iterator[Target]:
    """Yield an operation in its scene, for nobody and for a caller who is let in."""
    scene = SCENES[operation.scene]()
    path, query, good = path_of(operation, scene), query_of(operation, scene), body_of(operation, scene)
    for headers in ({}, CALLERS[LET_IN[operation.auth]](scene.user)):
        wsgi = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()}
        sent = _requests_of(operation, good, query, size)
        if not headers and operation.auth is not Auth.NONE:
            # Refused before any field of a body or a query is looked at.
            sent = islice(sent, FEW_OF_REFUSED)
        sent = islice(chain(sent, shapes.headers()), few)
        yield Target(operation.name, bool(headers), _client(), operation.method, path, sent, wsgi)


def _requests_of(operation: Operation, good: Mapping[str, Any], query: Mapping[str, str], size: int) -> Iterator[Shape]:
    described = document_of(operation)
    parameters = {each["name"]: inlined(each["schema"]) for each in described.get("parameters", ()) if each["in"] == "query"}
    content = described.get("requestBody", {}).get("content", {})
    if operation.method != "GET":
        yield from shapes.plain_bodies(size)
        yield from shapes.plain_forms(size)
    for kind, inner in content.items():
        if kind == shapes.JSON:
            yield from shapes.bodies_of(inlined(inner["schema"]), good, size)
    yield from shapes.queries_of(parameters, query)


def filter_targets(world: World, few: int | None) -> Iterator[Target]:
    """Yield what looks the catalog up, to be asked for many filters at once."""
    filters = _values_of_filters()
    for path, others in (
        ("/api/v1/assets", OF_BROWSING),
        ("/api/v1/assets/search", OF_SEARCHING),
        ("/browse", ["q"]),
        ("/browse", ["sort"]),
    ):
        queries = (Shape(name, query=urlencode(given, doseq=True)) for name, given in shapes.filters_of(filters, others))
        yield Target(f"GET {path} by filters and {others[-1]}", False, _client(), "GET", path, islice(queries, few))
    known = _of_tools(mcp_token(world.people["member"], frozenset(Scope))[1])
    for name, others in (("list_assets", OF_BROWSING), ("search_assets", OF_SEARCHING)):
        bodies = (Shape(what, json.dumps(given).encode()) for what, given in shapes.filters_of(filters, others))
        sent = _enveloped(bodies, "tools/call", {"name": name})
        yield Target(f"POST /mcp {name} by filters and {others[-1]}", True, _client(), "POST", "/mcp", islice(sent, few), known)


def _values_of_filters() -> dict[str, list[str]]:
    """Return the filters of the catalog that take several values, each with the commonest, as many as it takes."""
    counted = ListingCount.objects.exclude(name="").values("name", "value").annotate(n=Sum("listings")).order_by("-n")
    values = {name: [each["value"] for each in counted if each["name"] == name] for name in ("license", "tag", "platform", "fileType")}
    values |= {"category": list(Category.objects.values_list("slug", flat=True)), "tier": list(Tier.values)}
    values["vendor"] = list(Store.objects.values_list("slug", flat=True)[:MAX_VALUES])
    return {name: list(islice(cycle(found), MAX_VALUES)) for name, found in values.items()}


def tool_targets(world: World, size: int, few: int | None) -> Iterator[Target]:
    """Yield the endpoint of the tools, for nobody and with a token, then every tool."""
    user = world.people["member"]
    secret = mcp_token(user, frozenset(Scope))[1]
    usual, known = _of_tools(""), _of_tools(secret)
    for headers in (usual, known):
        plain = chain(shapes.plain_bodies(size), shapes.plain_forms(size), shapes.headers())
        yield Target("POST /mcp", headers is known, _client(), "POST", "/mcp", islice(plain, few), headers)
    for method, params in _methods().items():
        described = {"properties": {name: {"type": "string"} for name in [*params, "_meta", "more"]}}
        sent = _enveloped(shapes.bodies_of(described, params, size), method, {})
        yield Target(f"POST /mcp {method}", True, _client(), "POST", "/mcp", islice(sent, few), known)
    for tool in TOOLS.values():
        sent = _enveloped(shapes.bodies_of(tool.input_schema, {}, size), "tools/call", {"name": tool.name})
        unknown = _enveloped(shapes.plain_bodies(size), "tools/call", {"name": tool.name})
        yield Target(f"POST /mcp {tool.name}", True, _client(), "POST", "/mcp", islice(chain(sent, unknown), few), known)
    assert Speaker(secret, "2025-11-25").send("ping").status_code == 200


def _of_tools(secret: str) -> dict[str, str]:
    """Return the headers of a client of the tools."""
    usual = {"HTTP_ACCEPT": "application/json, text/event-stream", "HTTP_MCP_PROTOCOL_VERSION": "2025-11-25"}
    return usual | {"HTTP_AUTHORIZATION": f"Bearer {secret}"} if secret else usual


def _methods() -> dict[str, dict[str, Any]]:
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    ref = {"type": "ref/prompt", "name": "a"}
    return {
        "initialize": about,
        "resources/read": {"uri": "asset://hanken-grotesk/readme"},
        "prompts/get": {"name": "find_asset", "arguments": {}},
        "completion/complete": {"ref": ref, "argument": {"name": "a", "value": "a"}},
    }


def _enveloped(bodies: Iterable[Shape], method: str, params: Mapping[str, str]) -> Iterator[Shape]:
    """Put bodies into messages of the protocol: as arguments of a tool where `params` names one, else as parameters."""
    for shape in bodies:
        named = b"".join(f'"{name}":"{value}",'.encode() for name, value in params.items())
        inner = b"{" + named + b'"arguments":' + shape.body + b"}" if params else shape.body
        body = b'{"jsonrpc":"2.0","id":1,"method":"' + method.encode() + b'","params":' + inner + b"}"
        yield Shape(shape.name, body, shapes.JSON)


def oauth_targets(world: World, size: int, few: int | None) -> Iterator[Target]:
    asked = dict(parse_qsl(world.places["consent"]))
    client = {"client_id": asked["client_id"]}
    code = {"grant_type": "authorization_code", "code": "a", "redirect_uri": CALLBACK, "code_verifier": "a" * 43, **client}
    forms = {
        "/oauth/token": [code, {"grant_type": "refresh_token", "refresh_token": "a", "scope": "library:read", **client}],
        "/oauth/revoke": [{"token": "a", "token_type_hint": "access_token", **client}],
    }
    for path, kinds in forms.items():
        of_fields = chain.from_iterable(shapes.forms_of(fields, each) for fields in kinds for each in (OAUTH_FORM, FORM))
        sent = chain(shapes.plain_forms(size), shapes.plain_bodies(size), of_fields, shapes.unknown_queries(), shapes.headers())
        yield Target(f"POST {path}", False, _client(), "POST", path, islice(sent, few))
    parameters: dict[str, Any] = {name: {"maxLength": 1_000} for name in asked}
    for who in ("visitor", "member"):
        queries = islice(shapes.queries_of(parameters, asked), few)
        yield Target("GET /oauth/authorize", who != "visitor", _of(world, who), "GET", "/oauth/authorize", queries)


def page_targets(world: World, pages: list[tuple[str, str]], size: int, few: int | None) -> Iterator[Target]:
    """Yield every page, and every form on one that is sent."""
    forms: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    # What reads headers, reads them before it is known which page is asked for.
    with_headers: set[str] = set()
    for who, address in pages:
        client = _of(world, who)
        path, _, query = address.partition("?")
        fields, found = _forms_of(client, address)
        forms |= {(who, _route(action)): (action, values) for action, values in found.items()}
        names = {*fields, *dict(parse_qsl(query)), *(OF_LISTS if fields or who == "staff" else ())}
        known: dict[str, Any] = {name: {"maxLength": 1_000} for name in sorted(names)}
        tried = shapes.queries_of(known, dict(parse_qsl(query)), shapes.HARD)
        sent = chain([Shape("as it is", query=query)], tried, () if who in with_headers else shapes.headers())
        with_headers.add(who)
        yield Target(f"GET {_shown(address)}", who != "visitor", client, "GET", path, islice(sent, few))
    for (who, _), (action, values) in forms.items():
        sent = chain(
            shapes.plain_forms(size), islice(shapes.plain_bodies(size), 3), shapes.plain_forms(FORM), shapes.forms_of(values, FORM)
        )
        yield Target(f"POST {_shown(action)}", who != "visitor", _of(world, who), "POST", action, islice(sent, few))


def fixed_paths() -> list[str]:
    """Return each address without parts of its own, answers for programs among them, beside those of the admin and of the operations."""
    found = [f"/{route}" for route, _ in patterns(get_resolver()) if not set(route) & set("<^(")]
    return [path for path in [*found, *OF_PROBES] if path not in document()["paths"] and not path.startswith("/admin/")]


def _forms_of(client: Client, address: str) -> tuple[set[str], dict[str, dict[str, str]]]:
    """Return the fields of a page's forms that are looked up, and those of each that is sent, by where it is sent to."""
    page = client.get(address)
    asked: set[str] = set()
    sent: dict[str, dict[str, str]] = {}
    if page.streaming or not page.headers.get("Content-Type", "").startswith("text/html"):
        return asked, sent
    for form in BeautifulSoup(page.content, "html.parser").find_all("form"):
        fields = {
            str(each["name"]): str(each.get("value", "")) for each in form.find_all(["input", "select", "textarea"]) if each.get("name")
        }
        if str(form.get("method", "get")).lower() == "post":
            sent[str(form.get("action") or address)] = fields
        else:
            # A search box in the head of a page leads to another one.
            asked |= fields.keys() if str(form.get("action") or address).partition("?")[0] == address.partition("?")[0] else set()
    return asked, sent


def _route(action: str) -> str:
    try:
        return resolve(action.partition("?")[0]).route
    except Resolver404:
        return action


def _shown(address: str) -> str:
    """Return the route of an address: ids say nothing to readers of a table."""
    return f"/{_route(address)}".replace("^", "").replace("\\Z", "")


def _of(world: World, who: str) -> Client:
    client = world.client(who)
    client.raise_request_exception = False
    return client


def _client() -> Client:
    return Client(raise_request_exception=False)
