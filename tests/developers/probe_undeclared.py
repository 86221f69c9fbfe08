"""Addresses of a viewset that does not declare the access of an operation."""

from django.urls import include, path

from .probe import Undeclared

urlpatterns = [
    path("inner/", include([path("a", Undeclared.as_view({"get": "public", "post": "keyed"}))])),
]
