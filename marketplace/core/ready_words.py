"""Prepared reasons for decisions (called saved replies in the admin), which staff maintain and reviewers choose from."""

from collections.abc import Sequence
from typing import Any

from django.db import models, transaction

from . import audit, texts
from .models import ReadyUse, ReadyWords

WORDS_CHARS = 300
# A longer list takes longer to read than the reason to write.
MOST = 20


def words_for(use: ReadyUse) -> models.QuerySet[ReadyWords]:
    """Return what is offered for a decision."""
    return ReadyWords.objects.filter(use=use, is_active=True)[:MOST]


@transaction.atomic
def save_ready_words(*, ready: ReadyWords, changed: Sequence[str], actor: Any) -> ReadyWords:
    """Keep new or changed words; reasons that were given keep theirs.

    Raises:
        InvalidInput: they are none, or more than a line.
    """
    ready.words = texts.line(ready.words, "words", maximum=WORDS_CHARS)
    verb = "create" if ready._state.adding else "update"
    ready.save()
    audit.record(f"readywords.{verb}", ready, actor=actor, changed=list(changed))
    return ready
