"""The routes of the library under /api/v1."""

from django.urls import path

from catalog.api.public import cache_until_change

from .views import CertificateViewSet, LibraryViewSet, PackageViewSet, RightsViewSet

urlpatterns = [
    path("assets/<str:asset_id>/rights", cache_until_change(RightsViewSet.as_view({"get": "retrieve"})), name="asset-rights"),
    path("library", LibraryViewSet.as_view({"get": "list"}), name="library"),
    path("library/download/<str:asset_id>", LibraryViewSet.as_view({"post": "download"}), name="library-download"),
    path("downloads/<str:token>", PackageViewSet.as_view({"get": "fetch"}), name="library-package"),
    path("library/<str:asset_id>/certificate", LibraryViewSet.as_view({"get": "certificate"}), name="library-certificate"),
    path("library/<str:asset_id>/certificate.pdf", LibraryViewSet.as_view({"get": "certificate_pdf"}), name="library-certificate-pdf"),
    path("library/<str:asset_id>/credential", LibraryViewSet.as_view({"get": "credential"}), name="library-credential"),
    path("library/<str:asset_id>/versions", LibraryViewSet.as_view({"get": "versions"}), name="library-versions"),
    path("certificates/keys", CertificateViewSet.as_view({"get": "keys"}), name="certificate-keys"),
    path("certificates/verify", CertificateViewSet.as_view({"post": "verify"}), name="certificate-verify"),
    path("certificates/status-lists/<str:list_id>", CertificateViewSet.as_view({"get": "status_list"}), name="certificate-status-list"),
    path("certificates/<str:certificate_id>", CertificateViewSet.as_view({"get": "retrieve"}), name="certificate"),
]
