"""Opens files, and files inside archives, and draws glyphs of fonts, for reviewers. The sandbox reads them; only sounds are served unchanged."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from catalog.admin.reviews import REVIEW
from catalog.admin.takedowns import BLOCK
from catalog.admin.values import visible_characters
from catalog.font_samples import samples_for
from catalog.models import Deliverable
from marketplace.http.refusals import allow_methods
from marketplace.review.service import staff_of
from marketplace.storage import default_storage

from ..opened_files import MAX_GLYPHS, OpenedFile, draw_glyphs, open_entry, sheet_of
from ..services.files import record_opened

PATH_CHARS = 200
GLYPH_CHARS = 63
MAX_FACES = 64
PROTECTIVE_HEADERS = {
    "Cache-Control": "private, no-store",
    "X-Content-Type-Options": "nosniff",
    # Opened as a page of its own, it runs and loads nothing.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@allow_methods("GET")
def entry(request: HttpRequest, file_id: str) -> HttpResponse:
    """Show a file inside an archive, or the file itself where `path` is empty, and record who opened it."""
    file, path = _permitted_file(request, file_id), _path(request)
    opened = _opened(file, path)
    record_opened(deliverable=file, path=path, actor=staff_of(request))
    context = {
        **admin.site.each_context(request),
        "title": path or file.original_filename,
        "file": file,
        "opened": opened,
        "text": visible_characters(opened.content.decode()) if opened.kind == "text" else "",
        "content_url": _url("admin-file-entry-content", file, path),
        "font_url": _url("admin-file-entry-font", file, path),
        "samples": samples_for(()),
    }
    return TemplateResponse(request, "admin/catalog/entry.html", context)


@allow_methods("GET")
def entry_content(request: HttpRequest, file_id: str) -> HttpResponse:
    """Serve a picture, font or sound inside an archive, or the file itself where `path` is empty, with headers under which nothing in it runs."""
    opened = _opened(_permitted_file(request, file_id), _path(request))
    if opened.kind == "text":
        raise Http404
    return HttpResponse(opened.content, content_type=opened.content_type, headers=PROTECTIVE_HEADERS)


@allow_methods("GET")
def entry_font(request: HttpRequest, file_id: str) -> HttpResponse:
    """Return the style sheet that declares a font, or one inside an archive; inline styles are not allowed by the content policy."""
    content_url = _url("admin-file-entry-content", _permitted_file(request, file_id), _path(request))
    style_sheet = f'@font-face{{font-family:"Specimen";src:url("{content_url}");font-display:block}}\n'
    return HttpResponse(style_sheet, content_type="text/css; charset=utf-8", headers={"Cache-Control": "private, no-store"})


@allow_methods("GET")
def glyphs(request: HttpRequest, file_id: str) -> HttpResponse:
    """Return an image of the glyphs that the query names, of a font or of a font inside an archive."""
    file, path = _permitted_file(request, file_id), _path(request)
    names = [name for name in request.GET.getlist("glyph")[:MAX_GLYPHS] if name and len(name) <= GLYPH_CHARS]
    face = request.GET.get("face", "0")
    if not names or not face.isdecimal() or not face.isascii() or len(face) > 2 or int(face) >= MAX_FACES:
        raise Http404
    with _found(file):
        drawings = draw_glyphs(storage=default_storage, key=file.object_key, size=file.file_size, path=path, face=int(face), names=names)
    return HttpResponse(
        sheet_of(drawings, names), content_type="image/svg+xml", headers=PROTECTIVE_HEADERS | {"Cache-Control": "private, max-age=3600"}
    )


def _permitted_file(request: HttpRequest, file_id: str) -> Deliverable:
    """Return the file, for users who may review listings or block files."""
    if not (request.user.has_perm(REVIEW) or request.user.has_perm(BLOCK)):
        raise PermissionDenied
    return get_object_or_404(Deliverable.objects.select_related("listing"), pk=file_id)


def _url(route: str, file: Deliverable, path: str) -> str:
    return f"{reverse(route, args=[file.pk])}?{urlencode({'path': path})}"


def _path(request: HttpRequest) -> str:
    path = request.GET.get("path", "")
    if len(path) > PATH_CHARS or not path.isprintable():
        raise Http404
    return path


def _opened(file: Deliverable, path: str) -> OpenedFile:
    with _found(file):
        return open_entry(storage=default_storage, key=file.object_key, size=file.file_size, path=path)


@contextmanager
def _found(file: Deliverable) -> Iterator[None]:
    """Raise `Http404` if the vendor replaces the file while it is read."""
    try:
        yield
    except FileNotFoundError:
        get_object_or_404(Deliverable, pk=file.pk)
        raise
