"""Shapes of the public catalog's queries and answers."""

from .answers import SEARCH_FACETED, AssetDetail, AssetPage, CategoryList, PublicManifest, SearchResults, Suggestions
from .queries import BrowseQuery, PreviewQuery, SearchQuery, SuggestQuery

__all__ = [
    "SEARCH_FACETED",
    "AssetDetail",
    "AssetPage",
    "BrowseQuery",
    "CategoryList",
    "PreviewQuery",
    "PublicManifest",
    "SearchQuery",
    "SearchResults",
    "SuggestQuery",
    "Suggestions",
]
