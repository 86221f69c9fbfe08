"""The routes of the app under /api/v1."""

from django.urls import path

from .views import ListingViews, ProfileViews

ASSETS = "vendor/assets"
ASSET = f"{ASSETS}/<str:asset_id>"

urlpatterns = [
    path("vendor/apply", ProfileViews.as_view({"post": "apply"}), name="vendor-apply"),
    path("vendor/application-status", ProfileViews.as_view({"get": "status"}), name="vendor-application-status"),
    path(ASSETS, ListingViews.as_view({"get": "list", "post": "create"}), name="vendor-assets"),
    path(ASSET, ListingViews.as_view({"get": "retrieve", "patch": "update_details"}), name="vendor-asset"),
    path(f"{ASSET}/regional-prices", ListingViews.as_view({"patch": "regional_prices"}), name="vendor-regional-prices"),
    path(f"{ASSET}/licensing", ListingViews.as_view({"patch": "licensing"}), name="vendor-licensing"),
    path(f"{ASSET}/reviews", ListingViews.as_view({"get": "reviews"}), name="vendor-reviews"),
]
