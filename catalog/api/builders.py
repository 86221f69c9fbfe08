"""Maps each public path to what builds its response: for the viewsets, and for `PublicAnswersMiddleware`, which bypasses them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from marketplace.core.api.serializers import parameter_names, parse_parameters

from ..search import suggest
from . import bodies
from . import representations as shown
from . import serializers as shapes
from .browsing import answer, browsing_of, parameters_of
from .caching import Memo

Parameters = Mapping[str, str]
Build = Callable[[Memo], Any]
ROOT = "/api/v1/"


def categories(_parameters: Parameters) -> Build:
    """Return what makes the answer of GET categories."""
    return bodies.categories


def browse(parameters: Parameters) -> Build:
    """Return what makes the answer of GET assets.

    Raises:
        serializers.ValidationError: a parameter is bad, named `?parameter`; so do the others.
    """
    return partial(answer, browsing_of(parameters_of(parameters)))


def search(parameters: Parameters) -> Build:
    """Return what makes the answer of GET assets/search."""
    return partial(bodies.search_results, parse_parameters(shapes.SearchQuery, parameters))


def suggestions(parameters: Parameters) -> Build:
    """Return what makes the answer of GET assets/suggest."""
    q = parse_parameters(shapes.SuggestQuery, parameters)["q"]
    return lambda _memo: shown.suggestions(q, suggest(q))


class Builder(NamedTuple):
    """What makes the answers of an address, the name of its route, and the names of its parameters."""

    route: str
    build: Callable[[Parameters], Build]
    parameters: frozenset[str] = frozenset()


_BUILDERS = {
    "categories": Builder("categories", categories),
    "assets": Builder("assets", browse, parameter_names(shapes.BrowseQuery)),
    "assets/search": Builder("asset-search", search, parameter_names(shapes.SearchQuery)),
    "assets/suggest": Builder("asset-suggest", suggestions, parameter_names(shapes.SuggestQuery)),
}


def builder_at(path: str) -> Builder:
    """Return what makes the answers of a path of the public catalog (`cors.is_public`)."""
    name = path.removeprefix(ROOT)
    found = _BUILDERS.get(name)
    if found is not None:
        return found
    asset_id = name.partition("/")[2]
    return Builder("asset", lambda _parameters: partial(bodies.asset, asset_id))
