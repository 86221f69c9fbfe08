"""Developer applications: submit, converse, decide, withdraw."""

import pytest

from developers import selectors
from developers.errors import ApplicationOpen, DeveloperAlreadyApproved
from developers.models import DeveloperApplication
from developers.services import applications as services
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, NotFound
from tests.factories import AppFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]


def submit(user: User, **changes: str) -> DeveloperApplication:
    words = {"what": "A font picker", "why": "It reads the catalog", **changes}
    return services.submit_application(user=user, actor=user, **words)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("what", "x" * 2001, "max_length"),
        ("why", " \n", "blank"),
        ("company", "two\nlines", "control_characters"),
        ("website", "javascript:alert(1)", "invalid"),
    ],
)
def test_invalid_field_of_an_application_is_refused(field: str, value: str, code: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        submit(UserFactory(), **{field: value})
    assert [(error["pointer"], error["code"]) for error in refusal.value.members["errors"]] == [(f"#/{field}", code)]
    assert not DeveloperApplication.objects.exists()


def test_deactivated_account_does_not_apply() -> None:
    with pytest.raises(NotFound):
        submit(UserFactory(is_active=False))


def test_second_application_is_refused_while_one_waits_or_has_a_question_or_is_approved_but_not_after_a_rejection(
    application: DeveloperApplication, reviewer: User
) -> None:
    with pytest.raises(ApplicationOpen):
        submit(application.user)
    services.request_more_info(application=application, reason="Which fonts?", actor=reviewer)
    with pytest.raises(ApplicationOpen):
        submit(application.user)
    services.answer_question(application=application, text="All", actor=application.user)
    services.reject_application(application=application, reason="Too vague", actor=reviewer)
    again = submit(application.user)
    assert selectors.current_application(application.user) == again
    services.approve_application(application=again, reason="Fine", actor=reviewer)
    with pytest.raises(DeveloperAlreadyApproved):
        submit(application.user)


def test_application_whose_question_its_applicant_answers_waits_for_a_decision_again(
    application: DeveloperApplication, reviewer: User
) -> None:
    submission = history_of(application).get()
    assert (submission.action, submission.to_state, submission.actor) == ("application.submit", "Pending", application.user)
    with pytest.raises(InvalidInput):
        services.request_more_info(application=application, reason="  ", actor=reviewer)
    services.request_more_info(application=application, reason="Which fonts?", actor=reviewer)
    assert history_of(application)[0].reason == "Which fonts?"
    with pytest.raises(NotFound):
        services.answer_question(application=application, text="All", actor=UserFactory())
    answered = services.answer_question(application=application, text="Variable ones", actor=application.user)
    assert answered.status == "Pending"
    assert answered.submitted_at > application.submitted_at
    turns = [(message.author, message.text) for message in application.messages.all()]
    assert turns == [(reviewer, "Which fonts?"), (application.user, "Variable ones")]


def test_second_approved_application_of_one_user_is_refused(developer: User, reviewer: User) -> None:
    # As left behind by a submission that overlapped with the approval.
    overlapping = DeveloperApplication.objects.create(user=developer, what="x", why="y", submitted_at="2026-01-01T00:00:00Z")
    with pytest.raises(DeveloperAlreadyApproved):
        services.approve_application(application=overlapping, reason="Twice", actor=reviewer)


def test_withdrawn_approval_suspends_every_app_and_keeps_the_grants(developer: User, reviewer: User) -> None:
    apps = [AppFactory(user=developer), AppFactory(user=developer)]
    rejected = AppFactory(user=developer, status="Rejected", granted_scopes="")
    other = AppFactory()
    application = selectors.current_application(developer)
    assert application is not None
    services.withdraw_approval(application=application, reason="Abuse", actor=reviewer)
    for app in (*apps, rejected, other):
        app.refresh_from_db()
    assert [(app.status, app.status_reason, bool(app.granted_scopes)) for app in apps] == [("Suspended", "Abuse", True)] * 2
    assert (rejected.status, other.status) == ("Rejected", "Approved")
    assert not selectors.is_approved_developer(developer)
    assert submit(developer).status == "Pending"
