"""The routes of the developers under /api/v1."""

from django.urls import path

from .views import LeakViewSet

urlpatterns = [path("leaked-credentials", LeakViewSet.as_view({"post": "report"}), name="leaked-credentials")]
