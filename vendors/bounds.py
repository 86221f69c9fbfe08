"""Limits of uploads and of vendors' lists. How large a deliverable may be is in `catalog.bounds`."""

from datetime import timedelta

from marketplace.core.bounds import KIB, MIB

# The most concurrent uploads of a user to one process.
MAX_CONCURRENT_UPLOADS = 2
AUDIO_BYTES = 20 * MIB
IMAGE_BYTES = 20 * MIB
FONT_BYTES = 20 * MIB
# The logo of an app or of invoices (a store's is bounded by `IMAGE_BYTES`): below the limit of a form's body, because its page buffers it.
LOGO_BYTES = 400 * KIB
# Boundaries, part headers and small form fields around an uploaded file.
MULTIPART_OVERHEAD_BYTES = 64 * KIB
# The parts of a resumable upload; only the last may be smaller.
MIN_PART_BYTES = 5 * MIB
MAX_PART_BYTES = 16 * MIB
# How long a resumable upload waits for its next part.
UPLOAD_WAIT = timedelta(days=1)
# The most unfinished resumable uploads of a vendor.
MAX_UNFINISHED_UPLOADS = 10
# The most listings of a vendor that were never approved, as drafts or in review.
MAX_DRAFTS = 500
# After this, a request that finishes an upload and has neither succeeded nor failed is assumed to be killed.
FINISH_WAIT = timedelta(minutes=20)
# The longer side of a card's picture: smaller ones are enlarged, and blurred, wherever they are shown.
SHARP_PICTURE_PIXELS = 640
MAX_VENDOR_PAGE_SIZE = 100
VENDOR_PAGE_SIZE = 25
# How long the first payout to a changed bank account waits, for how many days the mailed link undoes the change, and the most changes a day.
PAYOUT_WAIT = timedelta(hours=72)
UNDO_DAYS = 7
PAYOUT_CHANGES_A_DAY = 10
