"""The routes of the developers under /api/v1."""

from django.urls import path

from .views import EventViewSet, LeakViewSet

urlpatterns = [
    path("events", EventViewSet.as_view({"get": "list"}), name="events"),
    path("leaked-credentials", LeakViewSet.as_view({"post": "report"}), name="leaked-credentials"),
]
