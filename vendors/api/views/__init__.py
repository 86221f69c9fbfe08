"""The vendor side of the API."""

from .discounts import DiscountViews
from .files import FileViews
from .listings import ListingViews
from .profiles import ProfileViews
from .store import StoreViews
from .submission import SubmissionViews
from .uploads import TusViews, UploadViews

__all__ = ["DiscountViews", "FileViews", "ListingViews", "ProfileViews", "StoreViews", "SubmissionViews", "TusViews", "UploadViews"]
