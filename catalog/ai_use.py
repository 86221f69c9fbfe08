"""The term for AI training as a sentence and as an HTTP header (draft-ietf-aipref-attach, draft-ietf-aipref-vocab)."""

from typing import NamedTuple

from .models.listings import AiTraining


class _Term(NamedTuple):
    sentence: str
    preference: str = ""


_TERMS = {
    AiTraining.ALLOWED: _Term("It may be used to train AI models, whatever the terms of the licence say about that.", "train-ai=y"),
    AiTraining.FORBIDDEN: _Term("It may not be used to train AI models.", "train-ai=n"),
    AiTraining.BY_LICENCE: _Term("The terms of the licence say whether it may be used to train AI models."),
}

# For pages that list assets, whose terms differ.
LIST_PREFERENCE = "train-ai=n"


def training_sentence(ai_training: str) -> str:
    """Return the term as it stands on pages, in manifests, licences and certificates."""
    return _TERMS[AiTraining(ai_training)].sentence


def usage_headers(ai_training: str) -> dict[str, str]:
    """Return the header `Content-Usage` of content under the term; none where the licence decides."""
    preference = _TERMS[AiTraining(ai_training)].preference
    return {"Content-Usage": preference} if preference else {}
