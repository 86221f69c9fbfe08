"""The routes of the library under /api/v1."""

from django.urls import path

from .views import LibraryViewSet, PackageViewSet

urlpatterns = [
    path("library", LibraryViewSet.as_view({"get": "list"}), name="library"),
    path("library/download/<str:asset_id>", LibraryViewSet.as_view({"post": "download"}), name="library-download"),
    path("downloads/<str:token>", PackageViewSet.as_view({"get": "fetch"}), name="library-package"),
]
