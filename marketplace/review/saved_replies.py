"""Saved replies: reasons for decisions, which staff maintain and reviewers choose from."""

from collections.abc import Sequence
from typing import Any

from django.db import models, transaction

from marketplace.core import audit, texts

from .models import SavedReply, SavedReplyUse

REPLY_CHARS = 300
# Choosing from a longer list would take longer than writing.
MAX_REPLIES = 20


def active_replies(use: SavedReplyUse) -> models.QuerySet[SavedReply]:
    """Return the replies offered for a decision."""
    return SavedReply.objects.filter(use=use, is_active=True)[:MAX_REPLIES]


@transaction.atomic
def save_reply(*, reply: SavedReply, changed: Sequence[str], actor: Any) -> SavedReply:
    """Save a new or changed reply; reasons given earlier keep their text.

    Raises:
        InvalidInput: the text is empty, or more than a line.
    """
    reply.text = texts.clean_line(reply.text, "text", maximum=REPLY_CHARS)
    audit.save_and_record(reply, changed=changed, actor=actor)
    return reply
