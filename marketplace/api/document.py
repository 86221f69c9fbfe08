"""The view that serves the OpenAPI document."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request


class DocumentView(SpectacularJSONAPIView):
    """The document as JSON, generated once in a process: it takes a second, and only changes with a release."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse(document_json(settings.BASE_URL), content_type=OpenApiJsonRenderer.media_type)


@cache
def document_json(_base_url: str) -> bytes:
    """Return the OpenAPI document; cached by the base address, which it contains."""
    rendered: bytes = OpenApiJsonRenderer().render(SchemaGenerator().get_schema(public=True))
    return rendered
