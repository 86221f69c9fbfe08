"""The program that keeps assets in a project, with the address of this service written into it."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

PROGRAM = (Path(__file__).parent.parent / "cli" / "cam.py").read_text("utf-8")


def program() -> bytes:
    """Return `cam.py` of this service."""
    return PROGRAM.replace("{{base_url}}", settings.BASE_URL).encode()


def _etag(request: HttpRequest) -> str:
    return f'"{hashlib.sha256(program()).hexdigest()}"'


@require_safe
@condition(etag_func=_etag)
def cam(request: HttpRequest) -> HttpResponse:
    """Send `cam.py` as text, for `uv run` to fetch."""
    return HttpResponse(program(), content_type="text/plain; charset=utf-8")
