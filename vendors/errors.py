"""Problem classes of the vendor API and the studio."""

from catalog import bounds as catalog_bounds
from marketplace.core.errors import Problem

from . import bounds


class VendorNotApproved(Problem):
    """403: `vendorStatus` is the status of the profile, null when there is none."""

    status = 403
    title = "The vendor is not approved"
    detail = "GET /api/v1/vendor/application-status returns the status. Without a profile, apply at POST /api/v1/vendor/apply; while it is pending, wait for the decision."


class VendorProfileMissing(Problem):
    """404: the caller has not applied yet."""

    status = 404
    title = "There is no vendor profile"
    detail = "Apply at POST /api/v1/vendor/apply first."


class VendorProfileExists(Problem):
    """409: one profile for each user."""

    status = 409
    title = "You already have a vendor profile"
    detail = "Read it at GET /api/v1/vendor/application-status."


class StoreSlugTaken(Problem):
    """409: store slugs are unique."""

    status = 409
    title = "The store slug is taken"
    detail = "Another store has it. Choose a different one."


class SlugTaken(Problem):
    """409: listing slugs are unique."""

    status = 409
    title = "The slug is taken"
    detail = "Choose another slug."


class SlugLocked(Problem):
    """409: the slug is fixed from the first submission on."""

    status = 409
    title = "The slug can no longer be changed"
    detail = "The listing was submitted before, so its slug is fixed. Send the present slug, or leave it out."


class DraftNotDeletable(Problem):
    """409: only a draft that was never submitted can be deleted."""

    status = 409
    title = "The listing can't be deleted"
    detail = "Only a draft that was never submitted can be deleted. A listing on sale can be taken off sale instead."


class ListingLocked(Problem):
    """409: the listing, or its new file, is under review, as `currentState` says."""

    status = 409
    title = "The listing is under review"
    detail = "Withdraw it at POST /api/v1/vendor/assets/{id}/withdraw, or wait for the decision."


class ListingChanged(Problem):
    """409: `fields` names what was changed elsewhere since it was read."""

    status = 409
    title = "The listing has changed in the meantime"
    detail = "The same fields were changed elsewhere. Check them, then save again."


class UploadConflict(Problem):
    """409: another upload to the same place was accepted while this one was on its way."""

    status = 409
    title = "Another upload finished first"
    detail = "Another file was stored in the meantime. Reload the listing, and upload again if your file should replace it."


class ThumbnailNeeded(Problem):
    """409: a published listing must keep its thumbnail, the image in gallery slot 0."""

    status = 409
    title = "A published listing needs its thumbnail"
    detail = "Upload another image to gallery slot 0 instead; it replaces this one."


class SubmitChecksFailed(Problem):
    """422: `checks` holds each check's name, outcome and detail."""

    status = 422
    title = "The listing is not ready for review"
    detail = "Fix what the failed checks name, then submit again."


class AiPartsMismatch(Problem):
    """422: aiParts is empty although parts made with AI are declared, or not empty although none are."""

    status = 422
    title = "The declaration and the description of parts made with AI do not match"
    detail = "Say what was made with AI if you declare that parts were, and leave it empty if you do not."


class PayoutsHeld(Problem):
    """409: the vendor's payouts are held."""

    status = 409
    title = "Your payouts are held"
    detail = "Nothing is paid out and no bank account can be changed until our staff release your payouts. Write to us."


class TooManyPayoutChanges(Problem):
    """409: `maximum` is the number of changes of bank accounts, in all currencies together, that are possible in 24 hours."""

    status = 409
    title = "Bank accounts were changed too often in 24 hours"
    detail = "Try again in 24 hours."


class UploadIncomplete(Problem):
    """400: the body ended before the file did, or holds no file."""

    status = 400
    title = "The upload is not complete"
    detail = "Send multipart/form-data with one part named file that has a file name, to its closing boundary."


class FileRejected(Problem):
    """400: the file is empty, damaged or unsafe, or could not be checked within the limits; `reason` says which."""

    status = 400
    title = "The file is not acceptable"
    detail = "It is damaged, or made in a way that is not safe to open."


class TusVersionUnsupported(Problem):
    """412: `Tus-Resumable` does not name the supported version of the protocol."""

    status = 412
    title = "The version of the tus protocol is not supported"
    detail = "Send the header Tus-Resumable: 1.0.0."


class OffsetConflict(Problem):
    """409: `offset` is the number of bytes that have arrived."""

    status = 409
    title = "The upload continues at another offset"
    detail = "Read how much has arrived with HEAD, then send what follows."


class PartTooSmall(Problem):
    """422: only the last part may have fewer than `minimumBytes`."""

    status = 422
    title = "The part is too small"
    detail = f"Send parts of {bounds.MIN_PART_BYTES:,} to {bounds.MAX_PART_BYTES:,} bytes; only the last may be smaller."


class ChecksumMismatch(Problem):
    """460: a part arrived damaged; nothing of it was kept."""

    status = 460
    title = "The part arrived damaged"
    detail = "Its checksum is not the one that was announced. Send it again."


class UploadUnfinished(Problem):
    """409: bytes are missing; `offset` is the number of those that have arrived."""

    status = 409
    title = "The upload is not complete"
    detail = "Send the missing parts first."


class UploadFinishing(Problem):
    """409: another request is finishing the upload."""

    status = 409
    title = "The upload is being finished"
    detail = "Another request is finishing it. Send this one again in a few seconds; the response is then the record of the file."


class TooManyUploads(Problem):
    """409: `maximum` is the number of unfinished uploads that a vendor may have."""

    status = 409
    title = "Too many unfinished uploads"
    detail = "Finish or delete one of those that you have begun. One that receives no part for a day expires, and no longer counts."


class UnapprovedStorageFull(Problem):
    """409: `maximumBytes` is what a vendor may keep that no reviewer has approved, and `usedBytes` what is kept."""

    status = 409
    title = "Too much is stored that is not approved"
    detail = (
        "Remove drafts, unfinished uploads or new files that you don't need, or wait until a reviewer has approved what you have submitted. "
        "Files that are approved don't count."
    )


class TooManyDrafts(Problem):
    """409: `maximum` is how many listings that were never approved a vendor can have."""

    status = 409
    title = "Too many drafts"
    detail = "Delete a draft that you don't need, or wait until a reviewer has approved a listing that you have submitted."


class DiscountPeriodInvalid(Problem):
    """422: the discount has ended already, ends before it begins, lasts too long or begins too late."""

    status = 422
    title = "The period of the discount is not valid"
    detail = (
        f"A discount ends in the future, after it begins, and lasts at most {catalog_bounds.MAX_DISCOUNT_DAYS} days; it begins at most as "
        "many days from now."
    )


class DiscountOverlaps(Problem):
    """409: another discount with the same code, or without one, applies in the same period."""

    status = 409
    title = "Another discount applies at that time"
    detail = (
        "A listing has one discount without a code at a time, and one with each code. End the other one first, or choose another period."
    )


class TooManyDiscounts(Problem):
    """409: `maximum` is how many discounts that have not ended a listing may have."""

    status = 409
    title = "Too many discounts"
    detail = "End one of the listing's discounts first."
