"""The routes of the developers under /api/v1."""

from django.urls import path

from .appeals import AppealViewSet
from .views import EventViewSet, LeakViewSet, WebhookViewSet

urlpatterns = [
    path("events", EventViewSet.as_view({"get": "list"}), name="events"),
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "register"}), name="webhooks-api"),
    path(
        "webhooks/<str:webhook_id>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "update", "delete": "remove"}),
        name="webhook-api",
    ),
    path("webhooks/<str:webhook_id>/rotate-secret", WebhookViewSet.as_view({"post": "rotate_secret"}), name="webhook-api-secret"),
    path("webhooks/<str:webhook_id>/deliveries", WebhookViewSet.as_view({"get": "deliveries"}), name="webhook-api-deliveries"),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/redeliver",
        WebhookViewSet.as_view({"post": "redeliver"}),
        name="webhook-api-redelivery",
    ),
    path("appeals", AppealViewSet.as_view({"get": "list", "post": "submit"}), name="appeals"),
    path("appeals/<str:appeal_id>", AppealViewSet.as_view({"get": "retrieve"}), name="appeal-record"),
    path("leaked-credentials", LeakViewSet.as_view({"post": "report"}), name="leaked-credentials"),
]
