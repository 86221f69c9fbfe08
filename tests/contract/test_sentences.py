"""What refusals say: sentences about the API, not about the names and types of the program behind it."""

from collections.abc import Iterator
from typing import Any, TypeVar

import pytest
from rest_framework import serializers

import catalog.api.views
import developers.api.views
import library.api.views
import vendors.api.views
import wallet.api.views
from marketplace.api.serializers import Body
from marketplace.api.views import ApiViewSet
from marketplace.core.errors import InvalidInput, Problem, all_problems

from .calls import FIELD_NAME

T = TypeVar("T")
FROM_OUR_APPS = (catalog.api.views, developers.api.views, library.api.views, vendors.api.views, wallet.api.views)


def subclasses(base: type[T]) -> Iterator[type[T]]:
    for child in base.__subclasses__():
        yield child
        yield from subclasses(child)


def inputs() -> list[type[serializers.Serializer[Any]]]:
    """Return the serializers of all bodies, and of all queries outside the catalog."""
    assert all(FROM_OUR_APPS)
    views = [view for view in subclasses(ApiViewSet) if not view.__module__.startswith("catalog.")]
    queries = {query for view in views for query in view.queries.values()}
    bodies = {body for body in subclasses(Body) if not body.__module__.startswith("tests.")}
    return sorted(queries | bodies, key=lambda serializer: serializer.__qualname__)


def messages(field: serializers.Field[Any, Any, Any, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and each message of a field that is DRF's own."""
    own = {
        code: str(text)
        for kind in type(field).__mro__
        if kind.__module__.startswith("rest_framework")
        for code, text in vars(kind).get("default_error_messages", {}).items()
    }
    yield from ((f"{field.parent}.{field.field_name}", text) for code, text in own.items() if str(field.error_messages[code]) == text)
    if isinstance(field, serializers.ListField):
        yield from messages(field.child)


@pytest.mark.parametrize("serializer", inputs(), ids=lambda serializer: serializer.__qualname__)
def test_every_input_error_has_our_own_text(serializer: type[serializers.Serializer[Any]]) -> None:
    made = serializer()
    # A query is never anything but an object.
    judged = [*([made] if isinstance(made, Body) else []), *made.fields.values()]
    assert [found for field in judged for found in messages(field)] == []


@pytest.mark.parametrize("problem", all_problems().values(), ids=lambda problem: problem.code)
def test_problem_is_described_without_names_of_fields(problem: type[Problem]) -> None:
    assert FIELD_NAME.search(f"{problem.title} {problem.detail}") is None


def test_invalid_input_says_what_is_wrong_first_and_how_much_more_there_is() -> None:
    faults = [{"pointer": f"#/{name}", "code": "null", "detail": f"Not {name}."} for name in ("title", "slug")]
    assert InvalidInput(errors=faults[:1]).message == "#/title: Not title."
    both = InvalidInput(errors=faults).message
    assert both.startswith("#/title: Not title.")
    assert "2" in both
