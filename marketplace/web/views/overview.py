"""The dashboard's first page."""

from django.db.models import Exists
from django.http import HttpResponseBase
from django.shortcuts import render

from developers.dashboard.next_steps import FIRST_SCOPES
from developers.models import DeveloperApplication
from developers.models.applications import ApplicationStatus
from developers.selectors import apps_of, current_application, tokens_without_app_of
from library.selectors import current_licences_of
from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.review.waiting import duration_text, usual_waiting_time
from vendors.models import VendorProfile
from wallet.approval_queries import waiting_approvals_of
from wallet.selectors import wallet_of

OVERVIEW_ROWS = 5


@signed_in_page("GET")
def dashboard(request: SignedInRequest) -> HttpResponseBase:
    """Show the user's application, apps, wallet, licences and store."""
    user = request.user
    application = current_application(user)
    decided = DeveloperApplication.objects.filter(decided_by__isnull=False)
    # In one query: whether the user has a personal token, and whether a purchase waits for the user's approval.
    exists = (
        User.objects.filter(pk=user.pk)
        .values(has_token=Exists(tokens_without_app_of(user).active()), has_waiting_approval=Exists(waiting_approvals_of(user)))
        .get()
    )
    return render(
        request,
        "pages/dashboard.html",
        {
            "application": application,
            "usual_waiting_time": "" if application else duration_text(usual_waiting_time(decided, status=ApplicationStatus.PENDING)),
            "first_scopes": FIRST_SCOPES,
            **exists,
            # Only names and states are shown; apps need an application.
            "apps": apps_of(user).prefetch_related(None)[:OVERVIEW_ROWS] if application else [],
            "wallet": wallet_of(user),
            "licences": current_licences_of(user).select_related("listing")[:OVERVIEW_ROWS],
            "profile": VendorProfile.objects.select_related("store").filter(user=user).first(),
        },
    )
