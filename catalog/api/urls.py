"""The routes of the app under /api/v1."""

from django.urls import URLPattern, path

from .previews import PreviewViewSet
from .public import cache_until_change
from .views import AssetViewSet, CategoryViewSet

urlpatterns: list[URLPattern] = [
    path("categories", cache_until_change(CategoryViewSet.as_view({"get": "list"})), name="categories"),
    path("assets", cache_until_change(AssetViewSet.as_view({"get": "list"})), name="assets"),
    path("assets/search", cache_until_change(AssetViewSet.as_view({"get": "search"})), name="asset-search"),
    path("assets/suggest", cache_until_change(AssetViewSet.as_view({"get": "suggest"})), name="asset-suggest"),
    path("assets/<str:asset_id>", cache_until_change(AssetViewSet.as_view({"get": "retrieve"})), name="asset"),
    path("assets/<str:asset_id>/changes", cache_until_change(AssetViewSet.as_view({"get": "changes"})), name="asset-changes"),
    path("assets/<str:asset_id>/manifest", cache_until_change(AssetViewSet.as_view({"get": "manifest"})), name="asset-manifest"),
    path("previews/<str:preview_id>", PreviewViewSet.as_view({"get": "retrieve"}), name="preview"),
]
