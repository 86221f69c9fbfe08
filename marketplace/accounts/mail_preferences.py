"""Mail preferences: chosen on the account page, or by the unsubscribe link of a mail."""

import uuid
from collections.abc import Collection

from django.core import signing
from django.db import transaction

from marketplace.core.errors import NotFound
from marketplace.core.transitions import lock

from .models import UNSUBSCRIBE_SALT, MailOptOut, MailTopic, User


def mail_topics_of(user: User) -> set[MailTopic]:
    """Return the topics that the user gets mails about."""
    opted_out = set(MailOptOut.objects.filter(user=user).values_list("topic", flat=True))
    return {topic for topic in MailTopic if topic.value not in opted_out}


@transaction.atomic
def set_mail_topics(*, user: User, topics: Collection[str]) -> None:
    """Set the topics that the user gets mails about.

    Raises:
        NotFound: the account is inactive.
    """
    user = lock(User.objects.filter(is_active=True), pk=user.pk)
    MailOptOut.objects.filter(user=user, topic__in=topics).delete()
    opt_outs = [MailOptOut(user=user, topic=topic) for topic in MailTopic if topic not in topics]
    MailOptOut.objects.bulk_create(opt_outs, ignore_conflicts=True)


def subscription_of(*, token: str) -> tuple[User, MailTopic]:
    """Return the user and the topic of an unsubscribe link.

    Raises:
        NotFound: the link is not valid.
    """
    try:
        user_id, topic = signing.loads(token, salt=UNSUBSCRIBE_SALT)
        return User.objects.get(pk=uuid.UUID(user_id), is_active=True), MailTopic(topic)
    except (signing.BadSignature, User.DoesNotExist, ValueError) as error:
        raise NotFound from error


def unsubscribe(*, user: User, topic: MailTopic) -> None:
    """Unsubscribe a user from a topic; nothing changes if they are unsubscribed already."""
    MailOptOut.objects.bulk_create([MailOptOut(user=user, topic=topic)], ignore_conflicts=True)
