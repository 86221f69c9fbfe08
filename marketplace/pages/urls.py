"""Pages that span apps."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
