"""Developer applications: submit, exchange questions, decide."""

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.database import violates
from marketplace.core.errors import NotFound
from marketplace.core.transitions import lock, lock_for_decision
from marketplace.ui.mail import mail

from ..errors import ApplicationOpen, DeveloperAlreadyApproved
from ..models import App, ApplicationMessage, DeveloperApplication
from ..models.apps import AppStatus
from ..selectors import is_approved_developer
from .states import APP_TRANSITIONS, APPLICATION_TRANSITIONS, SANDBOX_REASON


@transaction.atomic
def submit_application(*, user: User, what: str, why: str, actor: User, company: str = "", website: str = "") -> DeveloperApplication:
    """Apply to become an approved developer; a sandbox approves it at once.

    Raises:
        ApplicationOpen: another application of the user is open.
        DeveloperAlreadyApproved: the user is one already.
        NotFound: the account is not active.
    """
    application = DeveloperApplication(
        user=user,
        what=texts.clean_text(what, "what"),
        why=texts.clean_text(why, "why"),
        company=texts.clean_line(company, "company", required=False),
        website=texts.clean_web_address(website, "website"),
        submitted_at=timezone.now(),
    )
    # Serialised with the deletion of the account.
    lock(User.objects.filter(is_active=True), pk=user.pk)
    if is_approved_developer(user):
        raise DeveloperAlreadyApproved
    try:
        with transaction.atomic():
            application.save()
    except IntegrityError as error:
        if violates(error, DeveloperApplication, "application_one_open"):
            raise ApplicationOpen from error
        raise
    audit.record("application.submit", application, actor=actor, to_state=application.status)
    if settings.SANDBOX:
        changes = {"decision_reason": SANDBOX_REASON, "decided_at": timezone.now()}
        APPLICATION_TRANSITIONS.apply(application, "approve", actor=None, reason=SANDBOX_REASON, changes=changes)
    return application


@transaction.atomic
def request_more_info(*, application: DeveloperApplication, reason: str, actor: User) -> None:
    """Ask the applicant a question, the reason of this decision, before deciding on the application.

    Raises:
        InvalidTransition: the application does not wait for a decision.
        SelfReview: the actor is the applicant.
    """
    question = texts.clean_text(reason, "reason")
    application = lock_for_decision(DeveloperApplication.objects.all(), pk=application.pk, owner="user_id", actor=actor)
    APPLICATION_TRANSITIONS.apply(application, "ask", actor=actor, reason=question)
    ApplicationMessage.objects.create(application=application, author=actor, text=question)
    mail(application.user, "developers/application_question", question=question)


@transaction.atomic
def answer_question(*, application: DeveloperApplication, text: str, actor: User) -> DeveloperApplication:
    """Answer the reviewer's question: the application waits for a decision again.

    Raises:
        InvalidTransition: no question is open.
        NotFound: the application is not the actor's.
    """
    text = texts.clean_text(text, "text")
    application = lock(DeveloperApplication.objects.all(), pk=application.pk)
    if application.user_id != actor.pk:
        raise NotFound
    APPLICATION_TRANSITIONS.apply(application, "answer", actor=actor, changes={"submitted_at": timezone.now()})
    ApplicationMessage.objects.create(application=application, author=actor, text=text)
    return application


@transaction.atomic
def approve_application(*, application: DeveloperApplication, reason: str, actor: User) -> DeveloperApplication:
    """Make the applicant an approved developer.

    Raises:
        DeveloperAlreadyApproved: another application of the user was approved meanwhile.
        InvalidTransition: the application does not wait for a decision.
        SelfReview: the actor is the applicant.
    """
    try:
        with transaction.atomic():
            application = _decide(application, "approve", reason, actor)
    except IntegrityError as error:
        if violates(error, DeveloperApplication, "application_one_approved"):
            raise DeveloperAlreadyApproved from error
        raise
    mail(application.user, "developers/application_approved", reason=application.decision_reason)
    return application


@transaction.atomic
def reject_application(*, application: DeveloperApplication, reason: str, actor: User) -> DeveloperApplication:
    """Refuse an application; the applicant may submit another.

    Raises:
        InvalidTransition: the application does not wait for a decision.
        SelfReview: the actor is the applicant.
    """
    application = _decide(application, "reject", reason, actor)
    mail(application.user, "developers/application_rejected", reason=application.decision_reason)
    return application


@transaction.atomic
def withdraw_approval(*, application: DeveloperApplication, reason: str, actor: User) -> DeveloperApplication:
    """Withdraw an approval and suspend the developer's apps: their keys and tokens stop at the next request.

    Raises:
        InvalidTransition: the application is not approved.
        SelfReview: the actor is the developer.
    """
    application = _decide(application, "withdraw", reason, actor)
    reason = application.decision_reason
    approved = App.objects.filter(user=application.user, status=AppStatus.APPROVED).order_by("pk")
    for app in approved.select_for_update(of=("self",), no_key=True):
        changes = {"status_reason": reason}
        APP_TRANSITIONS.apply(app, "suspend", actor=actor, reason=reason, changes=changes, application=str(application.pk))
    mail(application.user, "developers/application_withdrawn", reason=reason)
    return application


def _decide(application: DeveloperApplication, verb: str, reason: str, actor: User) -> DeveloperApplication:
    rows = DeveloperApplication.objects.all()
    return APPLICATION_TRANSITIONS.decide(
        rows, verb, pk=application.pk, actor=actor, reason=reason, decided_at=timezone.now(), decided_by=actor
    )
