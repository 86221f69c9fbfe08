"""The vendor's pages."""

from django.urls import path

from .views import files, listings, overview

LISTING = "dashboard/studio/listings/<slug:slug>"

urlpatterns = [
    path("dashboard/studio", listings.listing_list, name="studio"),
    path(LISTING, overview.overview, name="studio-listing"),
    path(f"{LISTING}/files", files.files, name="studio-files"),
]
