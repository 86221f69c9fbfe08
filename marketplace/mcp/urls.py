"""The route of the protocol."""

from django.urls import path

from .views import endpoint

urlpatterns = [path("mcp", endpoint, name="mcp")]
