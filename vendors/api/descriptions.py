"""Descriptions of field and parameter names that several operations of the vendor API share; other fields have a help text."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "allowedLicenseSlugs": "Slugs of the licence tiers under which the asset is sold; null for all active ones.",
    "basePrice": "Price in US dollars, tax included.",
    "categorySlug": "Slug of the category.",
    "checks": "The result of each automatic check.",
    "discount_id": "Id of the discount.",
    "originalFilename": "Name of the uploaded file.",
    "passed": "Whether the check passed, or all checks.",
    "priceEur": "Price in euros, tax included; only shown to buyers, who pay in dollars or rupees. Null if none is set.",
    "priceInr": "Price in rupees, tax included; null if none is set: then it is sold in rupees only if it is free.",
    "readme": "Text of the README.txt in the buyer's download.",
    "reviewId": "Id of the review.",
    "slot": "Gallery slot: 0 is the thumbnail, 1 to 4 are further images.",
    "submittedAt": "Time of the submission; null if it was not submitted. For a takedown or restoration, its time.",
    "updateStatus": "PendingReview while a new file of a published listing is in review, otherwise null.",
    "upload_id": "Id of the resumable upload.",
    "userId": "Id of the user.",
    "vendorId": "Id of the vendor's user.",
}
describe = describe_with(DESCRIPTIONS)
