"""The routes of the developers under /api/v1."""

from django.urls import path

from .appeals import AppealViewSet
from .views import LeakViewSet

urlpatterns = [
    path("appeals", AppealViewSet.as_view({"get": "list", "post": "submit"}), name="appeals"),
    path("appeals/<str:appeal_id>", AppealViewSet.as_view({"get": "retrieve"}), name="appeal-record"),
    path("leaked-credentials", LeakViewSet.as_view({"post": "report"}), name="leaked-credentials"),
]
