"""Requests that schemathesis makes from the OpenAPI document, sent through WSGI by callers of each kind, and judged by it.

A request is made for the boundaries of each parameter and field, then at random, half of them good, half of them bad by the
document. Most name what the scene holds, or few would come further than a 404. Whatever one changes is rolled back.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, SchemathesisConfig
from schemathesis.specs.openapi import checks

from developers.services.credentials import issue_api_key
from marketplace.accounts.models import User
from marketplace.core.scopes import APP_SCOPES, format_scopes
from marketplace.wsgi import application
from tests.callers import bearer, personal_token
from tests.developers.cases import token_of
from tests.factories import AppFactory
from tests.vendors.cases import make_vendor

from .calls import API, document, nameless
from .scenes import Scene
from .shapes import Operation

# Rules that no schema of the document can state, by their codes. A request that breaks only these is good by the document.
BEYOND_A_SCHEMA = {
    "set_elsewhere": "fields that another operation sets are taken back unchanged",
    "decimals": "two decimals: `multipleOf` counts in binary floats and would refuse good prices",
    "max_digits": "as decimals",
    "max_decimal_places": "as decimals",
    "max_length": "long texts are bounded in bytes of UTF-8, of which characters are never more",
    "ambiguous": "cursor and page exclude each other",
    "below_minimum": "maxPrice is not below minPrice",
    "invalid_cursor": "cursors are opaque",
    "unknown_category": "which categories there are is data",
    "unknown_license": "which licences there are is data",
    "invalid_json": "applicationDataJson is a text in JSON",
    "not_an_object": "applicationDataJson is a text in JSON",
}
# As above, where the code is everyone's.
BEYOND_AT = {
    ("?cursor", "invalid"): "cursors are opaque",
    ("#/videoUrl", "invalid"): "a host is a name of the public DNS or an address",
}


def good_data_is_taken(ctx: Any, response: Any, case: Case) -> bool | None:
    """Refuse a refusal of good data, but for rules that the document cannot state."""
    if response.status_code == 400:
        errors = response.json().get("errors", [])
        named = [(re.sub(r"^#/credentials/\d+/", "", error["pointer"]), error["code"]) for error in errors]
        if named and all(code in BEYOND_A_SCHEMA or (pointer, code) in BEYOND_AT for pointer, code in named):
            return None
    if case.media_type == "multipart/form-data" and response.status_code in {400, 415}:
        # Of files the document says in words which are taken: the content decides.
        return None
    taken: bool | None = checks.positive_data_acceptance(ctx, response, case)
    return taken


CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    good_data_is_taken,
    checks.unsupported_method,
    checks.missing_required_header,
]
# In characters.
LONG = 300
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)


def _headers_of_key(user: User) -> dict[str, str]:
    app = AppFactory(user=user, granted_scopes=format_scopes(APP_SCOPES))
    return {"X-Api-Key": issue_api_key(app=app, name="generated", actor=user)[1]}


def _headers_of_vendor(user: User) -> dict[str, str]:
    """Return those of the scene's vendor; of another where its user is none."""
    if not hasattr(user, "vendor_profile"):
        user = make_vendor().user
    return bearer(personal_token(user)[1])


CALLERS: dict[str, Callable[[User], dict[str, str]]] = {
    "anonymous": lambda _user: {},
    "API key": _headers_of_key,
    "personal token": lambda user: bearer(personal_token(user, APP_SCOPES)[1]),
    "OAuth token": lambda user: bearer(token_of("oauth", user)[1]),
    "vendor's token": _headers_of_vendor,
}


@dataclass
class Exercise:
    """One operation, called with one credential in one scene."""

    operation: Operation
    scene: Scene
    headers: dict[str, str]

    def run(self, *, boundaries: int, examples: int, at_random: bool) -> int:
        """Send so many requests of each kind at the boundaries of the document, and so many at random; return how many were sent."""
        described = _described(self.operation)
        sent = 0
        for case in _at_boundaries(described, boundaries):
            self._settle(case)
            self._send(case)
            sent += 1

        @settings(
            max_examples=examples,
            derandomize=not at_random,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def fuzz(data: st.DataObject) -> None:
            case = data.draw(st.sampled_from(MODES).flatmap(lambda mode: described.as_strategy(generation_mode=mode)))
            if data.draw(st.integers(0, 3)):
                self._settle(case)
            self._send(case)
            nonlocal sent
            sent += 1

        fuzz()
        return sent

    def _settle(self, case: Case) -> None:
        """Put what the scene holds in the place of names that nothing has."""
        # The document has longer names than the table.
        for documented, name in zip(_braces(case.operation.path), _braces(self.operation.path), strict=True):
            if isinstance(case.path_parameters.get(documented), str):
                case.path_parameters[documented] = self.scene.names[name]
        if isinstance(case.body, dict) and case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE:
            slugs = {entry.name: entry.sample for entry in self.operation.body or () if entry.name.endswith(("Slug", "Slugs"))}
            for name, value in (slugs | self.scene.body).items():
                if name in case.body and isinstance(case.body[name], type(value)):
                    case.body[name] = value

    def _send(self, case: Case) -> None:
        # The transport of the test offers compression and does not undo it.
        headers = self.headers | {"Accept-Encoding": "identity"}
        # The checks send requests of their own.
        with within_a_test(), transaction.atomic():
            try:
                case.validate_response(case.call(headers=headers), checks=CHECKS, headers=headers)
            finally:
                transaction.set_rollback(True)


def _at_boundaries(described: Any, most: int) -> Iterator[Case]:
    """Yield so many requests of each kind, spread over the fields and parameters."""
    if not most:
        return
    config = GenerationConfig(modes=list(MODES), with_security_parameters=False)
    kinds: dict[str, list[Case]] = defaultdict(list)
    for case in described.schema.iter_coverage_cases(described, generation_modes=list(MODES), generation_config=config):
        kinds[case.meta.phase.data.scenario].append(case)
    for cases in kinds.values():
        yield from cases[:: math.ceil(len(cases) / most)]


def _braces(path: str) -> list[str]:
    """Return the names in a path's braces."""
    return re.findall(r"{(\w+)}", path)


@cache
def _schema() -> Any:
    config = SchemathesisConfig.from_dict(
        {
            # Credentials are the caller's.
            "generation": {"with-security-parameters": False},
            "checks": {
                "negative_data_rejection": {"expected-statuses": ["4xx"]},
                "positive_data_acceptance": {
                    "expected-statuses": ["2xx", "3xx", "401", "402", "403", "404", "409", "410", "412", "416", "422"]
                },
            },
        }
    )
    schema = schemathesis.openapi.from_dict(_without_long_patterns(document()), config=config)
    schema.app = application
    return schema


def _without_long_patterns(part: Any) -> Any:
    """Return the document without the bounds of long texts that have a pattern: schemathesis keeps a hundred megabytes for each.

    `test_refusals.py` tries these bounds.
    """
    if isinstance(part, list):
        return [_without_long_patterns(each) for each in part]
    if not isinstance(part, dict):
        return part
    bounded = "pattern" in part and isinstance(part.get("maxLength"), int) and part["maxLength"] > LONG
    return {name: _without_long_patterns(each) for name, each in part.items() if not (bounded and name == "maxLength")}


@contextmanager
def within_a_test() -> Iterator[None]:
    """Keep requests from closing the connection that the test's transaction is on, as Django's own test client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)


def _described(operation: Operation) -> Any:
    """Return the operation as schemathesis reads it in the document."""
    schema = _schema()
    path = next(path for path in document()["paths"] if nameless(path.removeprefix(API)) == nameless(operation.path))
    return schema[path][operation.method]
