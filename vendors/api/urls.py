"""The routes of the app under /api/v1."""

from django.urls import path

from .views import DiscountViews, FileViews, ListingViews, ProfileViews, StoreViews, SubmissionViews, TusViews, UploadViews

ASSETS = "vendor/assets"
ASSET = f"{ASSETS}/<str:asset_id>"

urlpatterns = [
    path("vendor/apply", ProfileViews.as_view({"post": "apply"}), name="vendor-apply"),
    path("vendor/application-status", ProfileViews.as_view({"get": "status"}), name="vendor-application-status"),
    path("vendor/store", StoreViews.as_view({"patch": "change"}), name="vendor-store"),
    path("vendor/store/logo", StoreViews.as_view({"post": "upload_logo", "delete": "remove_logo"}), name="vendor-store-logo"),
    path("vendor/store/banner", StoreViews.as_view({"post": "upload_banner", "delete": "remove_banner"}), name="vendor-store-banner"),
    path(ASSETS, ListingViews.as_view({"get": "list", "post": "create"}), name="vendor-assets"),
    path(ASSET, ListingViews.as_view({"get": "retrieve", "patch": "update_details", "delete": "delete_draft"}), name="vendor-asset"),
    path(f"{ASSET}/regional-prices", ListingViews.as_view({"patch": "set_regional_prices"}), name="vendor-regional-prices"),
    path(f"{ASSET}/licensing", ListingViews.as_view({"patch": "set_licensing"}), name="vendor-licensing"),
    path(f"{ASSET}/discounts", DiscountViews.as_view({"get": "list", "post": "create"}), name="vendor-discounts"),
    path(f"{ASSET}/discounts/<str:discount_id>", DiscountViews.as_view({"delete": "end"}), name="vendor-discount"),
    path(f"{ASSET}/reviews", ListingViews.as_view({"get": "list_reviews"}), name="vendor-reviews"),
    path(f"{ASSET}/file", FileViews.as_view({"post": "upload_file", "delete": "discard_file"}), name="vendor-file"),
    path(f"{ASSET}/tus", TusViews.as_view({"post": "create"}), name="vendor-tus"),
    path("vendor/uploads", UploadViews.as_view({"get": "list"}), name="vendor-uploads"),
    path(
        "vendor/tus/<str:upload_id>",
        TusViews.as_view({"head": "progress", "patch": "append", "delete": "terminate"}),
        name="vendor-tus-upload",
    ),
    path("vendor/uploads/<str:upload_id>", UploadViews.as_view({"get": "retrieve"}), name="vendor-upload"),
    path("vendor/uploads/<str:upload_id>/finish", UploadViews.as_view({"post": "finish"}), name="vendor-upload-finish"),
    path(f"{ASSET}/files", FileViews.as_view({"get": "list_files"}), name="vendor-files"),
    path(f"{ASSET}/font-specimen", FileViews.as_view({"post": "upload_font_specimen"}), name="vendor-font-specimen"),
    path(f"{ASSET}/gallery-image", FileViews.as_view({"post": "upload_gallery_image"}), name="vendor-gallery-image"),
    path(f"{ASSET}/audio-preview", FileViews.as_view({"post": "upload_audio_preview"}), name="vendor-audio-preview"),
    path(
        f"{ASSET}/previews/<str:preview_id>",
        FileViews.as_view({"patch": "update_picture", "delete": "remove_preview"}),
        name="vendor-preview",
    ),
    path(f"{ASSET}/manifest/generate", SubmissionViews.as_view({"post": "generate_manifest"}), name="vendor-manifest"),
    path(f"{ASSET}/preflight", SubmissionViews.as_view({"post": "preflight"}), name="vendor-preflight"),
    path(f"{ASSET}/submit", SubmissionViews.as_view({"post": "submit"}), name="vendor-submit"),
    path(f"{ASSET}/withdraw", SubmissionViews.as_view({"post": "withdraw"}), name="vendor-withdraw"),
    path(f"{ASSET}/unpublish", SubmissionViews.as_view({"post": "unpublish"}), name="vendor-unpublish"),
]
