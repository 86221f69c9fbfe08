"""Every address of the service."""

from allauth.account.views import email
from django.contrib import admin
from django.db import transaction
from django.urls import URLPattern, URLResolver, include, path

from marketplace.api.document import DocumentView
from marketplace.review.views import search
from marketplace.web.views.docs import reference
from vendors.admin import contents

api: list[URLPattern | URLResolver] = [
    path("", include("catalog.api.urls")),
    path("", include("developers.api.urls")),
    path("", include("vendors.api.urls")),
    path("", include("library.api.urls")),
    path("", include("wallet.api.urls")),
    path("schema", DocumentView.as_view(), name="schema"),
    path("docs", reference, name="docs"),
]

urlpatterns = [
    path("api/v1/", include(api)),
    path("", include("marketplace.mcp.urls")),
    path("admin/search", admin.site.admin_view(search), name="admin-search"),
    path("admin/files/<uuid:file_id>/entry", admin.site.admin_view(contents.entry), name="admin-file-entry"),
    path("admin/files/<uuid:file_id>/entry/content", admin.site.admin_view(contents.entry_content), name="admin-file-entry-content"),
    path("admin/files/<uuid:file_id>/entry/font.css", admin.site.admin_view(contents.entry_font), name="admin-file-entry-font"),
    path("admin/files/<uuid:file_id>/glyphs.svg", admin.site.admin_view(contents.glyphs), name="admin-file-glyphs"),
    path("admin/", admin.site.urls),
    # In one transaction, so that the lock of the account lasts until its own address is saved too.
    path("account/email/", transaction.atomic(email), name="account_email"),
    path("account/", include("allauth.urls")),
    path("", include("developers.dashboard.urls")),
    path("", include("developers.oauth.urls")),
    path("", include("vendors.studio.urls")),
    path("", include("marketplace.web.urls")),
]

handler400 = "marketplace.api.problems.bad_request"
handler403 = "marketplace.api.problems.permission_denied"
handler404 = "marketplace.api.problems.not_found"
handler500 = "marketplace.api.problems.server_error"
