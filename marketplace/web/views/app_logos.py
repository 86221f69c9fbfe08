"""The logos of apps."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from developers import selectors
from developers.dashboard.views.apps import own_app
from developers.models import AppLogo
from developers.services.apps import set_app_logo
from marketplace.accounts.pages import SignedInRequest, problems_as_messages, signed_in_page
from vendors.logos import process_logo


@signed_in_page("GET", "POST")
def logo(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Return the logo of an app, before its approval only to the developer and to reviewers; a POST sets or removes it."""
    if request.method == "POST":
        return _change(request, app_id)
    shown = get_object_or_404(AppLogo, pk=app_id)
    if not (shown.approved or request.user.has_perm("developers.decide_app") or selectors.apps_of(request.user).filter(pk=app_id).exists()):
        raise Http404
    return HttpResponse(bytes(shown.image), content_type="image/jpeg")


def _change(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    app = own_app(request.user, app_id)
    file = request.FILES.get("logo")
    if file is None and "remove" not in request.POST:
        messages.error(request, "Choose an image.")
    else:
        saved = "The logo is saved." if settings.SANDBOX else "The logo is saved. Users see it once a reviewer has approved it."
        success = "The logo is removed." if file is None else saved
        with problems_as_messages(request, success):
            image = b"" if file is None else process_logo(file.read(), sender=str(request.user.pk))
            set_app_logo(app=app, image=image, actor=request.user)
    return redirect("app-detail", app_id=app.pk)
