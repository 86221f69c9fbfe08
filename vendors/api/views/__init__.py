"""The vendor side of the API."""

from .discounts import DiscountViews
from .files import FileViews
from .listings import ListingViews
from .profiles import ProfileViews
from .submission import SubmissionViews
from .uploads import UploadViews

__all__ = ["DiscountViews", "FileViews", "ListingViews", "ProfileViews", "SubmissionViews", "UploadViews"]
