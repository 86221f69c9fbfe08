"""What a vendor reads when an upload is refused, by the code of the problem: what happened, and what to do.

The page's script says the same sentences, which it is handed.
"""

from collections.abc import Mapping

from marketplace.core import bounds
from marketplace.core.errors import Problem

_SIGN_IN = "You are no longer signed in. Sign in again, come back to this page and upload it once more."
_DAMAGED = "The upload arrived damaged. Upload it again; if it stays so, try another network."
# `{detail}` stands for what the service says of this very file, `{maximum}` for how large it may be.
SENTENCES = {
    "not_authenticated": _SIGN_IN,
    "invalid_credential": _SIGN_IN,
    "insufficient_scope": _SIGN_IN,
    "ambiguous_credentials": "Something between you and us added a credential of its own. Try another network or browser.",
    "vendor_not_approved": "Your store takes no uploads now: it waits for approval, or is suspended. The studio's first page says which.",
    "not_found": "This listing is not there any more. Go back to your listings.",
    "thumbnail_needed": "A listing on sale keeps its cover picture. Upload another in its place instead.",
    "listing_locked": "It is in review, and what a reviewer looks at stays as it is. Take it back from the review, or wait for the decision.",
    "upload_conflict": "Another file came in here while yours was on its way, and was kept. Reload the page to see it; upload again if yours "
    "should replace it.",
    "body_too_large": "It is too large: here at most {maximum} are taken. Make it smaller, or split it.",
    "unsupported_type": "{detail} What counts is the content, not the name.",
    "file_rejected": "{detail} Make it anew with the program it came from, see that it opens, then upload that.",
    "upload_incomplete": "No whole file arrived. Choose a file and upload it again.",
    "malformed_body": _DAMAGED,
    "malformed_request": _DAMAGED,
    "invalid_input": _DAMAGED,
    "length_required": "Something between you and us hides how long the upload is. Try another network or browser.",
    "rate_limited": "That were many uploads in a short time. Wait a minute, then try again.",
    "overloaded": "The service has more to do than it can at this moment. Nothing was kept; try again in a minute.",
    "dependency_unavailable": "A part of the service is busy or cannot be reached. Nothing was kept; try again in a minute.",
    "internal_error": "Something failed on our side, and nothing was kept. Try again; if it stays so, tell us the number {requestId}.",
}


def in_words(problem: Problem) -> str:
    """Return what to tell the vendor of a refusal; the problem's own sentence where there is no better one."""
    members: Mapping[str, object] = problem.members
    maximum = size_in_words(int(str(members.get("maximumBytes", 0))))
    sentence = SENTENCES.get(problem.code, "{detail}")
    return sentence.replace("{detail}", problem.message).replace("{maximum}", maximum)


def size_in_words(size: int) -> str:
    """Return one of our bounds as people say it."""
    return f"{size / bounds.GIB:g} GB" if size >= bounds.GIB else f"{size / bounds.MIB:g} MB"
