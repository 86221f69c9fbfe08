"""The account page: name, sign-in, export and deletion."""

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from marketplace.accounts.pages import (
    SignedInRequest,
    confirmed_page,
    posted,
    problems_as_form_errors,
    problems_as_messages,
    render_form,
    signed_in_page,
)
from marketplace.accounts.services import delete_account, end_sessions, rename_user
from marketplace.operations.blockers import deletion_blockers
from marketplace.operations.exports import RETENTION, export_of, read_export, request_export
from marketplace.storage.responses import attachment

from ..forms import DeletionForm, NameForm

DELETION_REASON = "Asked for on the account page."


@signed_in_page("GET", "POST")
def account(request: SignedInRequest) -> HttpResponseBase:
    """Show the account; a POST sets the name."""
    form = NameForm(posted(request), initial={"name": request.user.name})
    if form.is_valid():
        with problems_as_form_errors(form):
            rename_user(user=request.user, name=form.cleaned_data["name"], actor=request.user)
            messages.success(request, "Your name was saved.")
            return redirect("account")
    totp = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.TOTP).exists()
    return render_form(request, "account/overview.html", form, totp=totp, export=export_of(request.user), days=RETENTION.days)


@signed_in_page("POST")
def sessions(request: SignedInRequest) -> HttpResponseBase:
    """End all sessions but this one."""
    user = end_sessions(user=request.user, actor=request.user)
    update_session_auth_hash(request, user)
    messages.success(request, "You have been signed out everywhere else.")
    return redirect("account")


@signed_in_page("POST")
@confirmed_page
def export(request: SignedInRequest) -> HttpResponseBase:
    """Request an export of the user's data."""
    with problems_as_messages(request, "Your export is being prepared. You get an email when it is ready, usually within minutes."):
        request_export(user=request.user, actor=request.user)
    return redirect("account")


@signed_in_page("GET")
@confirmed_page
def export_file(request: SignedInRequest) -> HttpResponseBase:
    """Return the export of the user's data, while it is kept."""
    text = read_export(request.user)
    if text is None:
        raise Http404
    return HttpResponse(text, content_type="application/json", headers=attachment(f"my-data-{timezone.now():%Y-%m-%d}.json"))


@signed_in_page("GET", "POST")
def delete(request: SignedInRequest) -> HttpResponseBase:
    """Ask for the email address and the password, then delete the account."""
    form = DeletionForm(posted(request), request=request)
    if form.is_valid():
        with problems_as_form_errors(form):
            # No member of staff decides, so there is no actor.
            delete_account(user=request.user, reason=DELETION_REASON, actor=None)
            logout(request)
            messages.success(request, "Your account is deleted. A last email confirms it.")
            return redirect("landing")
    blockers = deletion_blockers(request.user.pk)
    return render_form(request, "account/delete.html", form, deletion_blockers=blockers, staff=request.user.is_staff)
