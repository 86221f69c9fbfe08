"""The vendor's pages."""

from django.urls import path

from .views import discounts, edit, files, listings, manifest, overview, payout_details, reviews, steps, store

LISTING = "dashboard/studio/listings/<slug:slug>"

urlpatterns = [
    path("dashboard/studio", listings.listing_list, name="studio"),
    path("dashboard/studio/apply", store.apply, name="studio-apply"),
    path("dashboard/studio/store", store.edit, name="studio-store"),
    path("dashboard/studio/store/logo", store.upload_picture, {"kind": "Logo"}, name="studio-logo-upload"),
    path("dashboard/studio/store/banner", store.upload_picture, {"kind": "Banner"}, name="studio-banner-upload"),
    path("dashboard/studio/store/logo/remove", store.remove_picture, {"kind": "Logo"}, name="studio-logo-remove"),
    path("dashboard/studio/store/banner/remove", store.remove_picture, {"kind": "Banner"}, name="studio-banner-remove"),
    path("dashboard/studio/store-address", store.slug_check, name="studio-store-slug-check"),
    path("dashboard/studio/payout-details/<str:currency>", payout_details.change, name="payout-details"),
    path("payout-details/undo/<str:token>", payout_details.undo, name="payout-details-undo"),
    path("dashboard/studio/listing-new", listings.create, name="studio-create"),
    path("dashboard/studio/listing-address", listings.slug_check, name="studio-slug-check"),
    path(LISTING, overview.overview, name="studio-listing"),
    path(f"{LISTING}/details", edit.details, name="studio-details"),
    path(f"{LISTING}/prices", edit.prices, name="studio-prices"),
    path(f"{LISTING}/prices/split", edit.split, name="studio-split"),
    path(f"{LISTING}/discounts", discounts.discounts, name="studio-discounts"),
    path(f"{LISTING}/discounts/<uuid:discount_id>/end", discounts.end, name="studio-discount-end"),
    path(f"{LISTING}/licences", edit.licences, name="studio-licences"),
    path(f"{LISTING}/files", files.files, name="studio-files"),
    path(f"{LISTING}/manifest", manifest.manifest, name="studio-manifest"),
    path(f"{LISTING}/reviews", reviews.review_list, name="studio-reviews"),
    path(f"{LISTING}/submit", steps.submit, name="studio-submit"),
    path(f"{LISTING}/withdraw", steps.withdraw, name="studio-withdraw"),
    path(f"{LISTING}/unpublish", steps.unpublish, name="studio-unpublish"),
    path(f"{LISTING}/delete", steps.delete, name="studio-delete"),
    path(f"{LISTING}/files/upload", files.upload_file, name="studio-file-upload"),
    path(f"{LISTING}/files/discard", files.discard_file, name="studio-file-discard"),
    path(f"{LISTING}/files/uploads/<uuid:upload_id>/remove", files.remove_upload, name="studio-upload-remove"),
    path(f"{LISTING}/pictures/<int:slot>", files.upload_preview, {"upload_kind": "picture"}, name="studio-picture-upload"),
    path(f"{LISTING}/specimen", files.upload_preview, {"upload_kind": "specimen"}, name="studio-specimen-upload"),
    path(f"{LISTING}/specimen.css", files.specimen, name="studio-specimen"),
    path(f"{LISTING}/sound", files.upload_preview, {"upload_kind": "sound"}, name="studio-sound-upload"),
    path(f"{LISTING}/previews/<uuid:preview_id>/remove", files.remove_preview, name="studio-preview-remove"),
    path(f"{LISTING}/previews/<uuid:preview_id>/alt-text", files.describe_picture, name="studio-picture-alt-text"),
    path(f"{LISTING}/previews/<uuid:preview_id>/move", files.move_picture, name="studio-picture-move"),
]
