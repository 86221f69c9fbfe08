"""A WSGI application that receives and serves a file, to be served by a real server: `granian tests.files.upload_app:application`."""

import os

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marketplace.settings.test")
settings.ROOT_URLCONF = __name__
settings.MEDIA_ROOT = os.environ["UPLOAD_TEST_MEDIA"]
django.setup(set_prefix=False)
# Only after the set-up: an app insists on its middleware.
settings.MIDDLEWARE = []
application = WSGIHandler()

# The settings must be in place before what reads them is imported.
from marketplace.api.problems import json_problem_response  # noqa: E402 - see above
from marketplace.core.errors import Problem  # noqa: E402 - see above
from marketplace.storage import default_storage  # noqa: E402 - see above
from marketplace.storage.base import Segment, StoredRange  # noqa: E402 - see above
from marketplace.storage.responses import serve_segments  # noqa: E402 - see above
from vendors.uploads.receiving import receive  # noqa: E402 - see above


def upload(request: HttpRequest, maximum_bytes: int) -> HttpResponse:
    try:
        with receive(request, key="deliverables/one", maximum_bytes=maximum_bytes) as received:
            if "keep" in request.GET:
                received.keep()
            return JsonResponse({"filename": received.filename, "size": received.size, "sha256": received.sha256, "crc32": received.crc32})
    except Problem as problem:
        return json_problem_response(problem, request)


def download(request: HttpRequest) -> HttpResponseBase:
    store = default_storage
    segments: list[Segment] = [b"head", StoredRange(store, "deliverables/one", 0, store.size("deliverables/one"))]
    return serve_segments(request, segments=segments, etag="one", content_type="application/zip", filename="one.zip", inline=False)


urlpatterns = [
    path("upload/<int:maximum_bytes>", upload),
    path("download", download),
]
