"""OAuth's addresses: no introspection, no registration, no other grant."""

from django.urls import path

from ..audiences import Audience
from . import metadata, views

_RESOURCE = ".well-known/oauth-protected-resource"

urlpatterns = [
    path("oauth/authorize", views.authorize, name="oauth-authorize"),
    path("oauth/token", views.token, name="oauth-token"),
    path("oauth/revoke", views.revoke, name="oauth-revoke"),
    path(".well-known/oauth-authorization-server", metadata.authorization_server, name="oauth-metadata"),
    path(_RESOURCE, metadata.protected_resource, {"audience": Audience.API}, name="oauth-resource"),
    *(
        path(f"{_RESOURCE}{audience.path}", metadata.protected_resource, {"audience": audience}, name=f"oauth-resource-{audience}")
        for audience in Audience
    ),
]
