"""The term for AI training as a sentence and as an HTTP header (draft-ietf-aipref-attach, draft-ietf-aipref-vocab)."""

from .models.listings import AiTraining

_SENTENCES = {
    AiTraining.ALLOWED: "It may be used to train AI models, whatever the terms of the licence say about that.",
    AiTraining.FORBIDDEN: "It may not be used to train AI models.",
    AiTraining.BY_LICENCE: "The terms of the licence say whether it may be used to train AI models.",
}
_PREFERENCES = {AiTraining.ALLOWED: "train-ai=y", AiTraining.FORBIDDEN: "train-ai=n"}

# For pages that list assets, whose terms differ.
LIST_PREFERENCE = "train-ai=n"


def training_sentence(ai_training: str) -> str:
    """Return the term as it stands on pages, in manifests, licences and certificates."""
    return _SENTENCES[AiTraining(ai_training)]


def usage_headers(ai_training: str) -> dict[str, str]:
    """Return the header `Content-Usage` of content under the term; none where the licence decides."""
    preference = _PREFERENCES.get(AiTraining(ai_training))
    return {"Content-Usage": preference} if preference else {}
