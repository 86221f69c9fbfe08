"""The page of the developer application: apply, see the status, answer the reviewer."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.review.appeals import appealable_decision

from ... import selectors
from ...models.applications import CLOSED_STATUSES, ApplicationStatus
from ...services.applications import answer_question, submit_application
from ..forms import AnswerForm, ApplicationForm
from ..next_steps import milestones_of


@signed_in_page("GET", "POST")
def application(request: SignedInRequest) -> HttpResponseBase:
    """Show the user's application; a POST submits it or answers the reviewer's question."""
    current = selectors.current_application(request.user)
    asked = current is not None and current.status == ApplicationStatus.MORE_INFO_NEEDED
    answering = "text" in request.POST if request.method == "POST" else asked
    form: ApplicationForm | AnswerForm = (AnswerForm if answering else ApplicationForm)(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            if isinstance(form, ApplicationForm):
                submitted = submit_application(user=request.user, actor=request.user, **form.cleaned_data)
                waits = submitted.status == ApplicationStatus.PENDING
                in_review = "Your application is with our reviewers. You get an email when they have decided."
                messages.success(request, in_review if waits else "Your application was approved.")
            elif current is not None:
                answer_question(application=current, actor=request.user, **form.cleaned_data)
                messages.success(request, "Your answer was sent to the reviewer.")
            return redirect("developer-application")
    approved = current is not None and current.status == ApplicationStatus.APPROVED
    progress = selectors.progress_of(request.user) if approved else selectors.Progress()
    return render_form(
        request,
        "developers/application.html",
        form,
        application=current,
        has_app=progress.has_app,
        milestones=milestones_of(current, progress),
        conversation=[] if current is None else current.messages.all(),
        # A submitted form stays on the page, even if the state has changed meanwhile.
        applying=isinstance(form, ApplicationForm) and (form.is_bound or current is None or current.status in CLOSED_STATUSES),
        wait=selectors.wait_of_application(current),
        decision=appealable_decision(current) if current is not None and current.status in CLOSED_STATUSES else None,
        answering=isinstance(form, AnswerForm),
        sandbox=settings.SANDBOX,
    )
