"""The vendor side of the API."""

from .files import FileViews
from .listings import ListingViews
from .profiles import ProfileViews
from .submission import SubmissionViews

__all__ = ["FileViews", "ListingViews", "ProfileViews", "SubmissionViews"]
