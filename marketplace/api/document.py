"""Where the OpenAPI document is served."""

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
    """The document as JSON. It is generated once in a process: that takes a second, and it changes with a release only."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the document."""
        return HttpResponse(document_json(settings.BASE_URL), content_type=OpenApiJsonRenderer.media_type)


@cache
def document_json(_base_url: str) -> bytes:
    """Return the OpenAPI document of the service at an address, which the document names."""
    rendered: bytes = OpenApiJsonRenderer().render(SchemaGenerator().get_schema(public=True))
    return rendered
