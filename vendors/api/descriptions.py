"""Descriptions of fields and parameters of vendors, by name, for those that have no help text of their own."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "CheckRecord.name": "Name of the check.",
    "ToolSchema.description": "What the tool does.",
    "ToolSchema.name": "Name of the tool.",
    "agentGuidance": "What an agent should know before it uses the asset.",
    "allowedLicenseSlugs": "Slugs of the licence tiers under which the asset is sold; null for all active ones.",
    "approvedAt": "Time of the approval; null before that.",
    "basePrice": "Price in US dollars, tax included.",
    "bio": "Public description of the store.",
    "categorySlug": "Slug of the category.",
    "checks": "The result of each automatic check.",
    "decidedAt": "Time of the decision; null before that.",
    "discount_id": "Id of the discount.",
    "findings": "What has to be fixed; empty for an approval.",
    "formats": "Formats of the files.",
    "glyphCount": "Number of glyphs, of several fonts that of the fullest; 0 if there is no font.",
    "originalFilename": "Name of the uploaded file.",
    "passed": "Whether it passed.",
    "payoutMethod": "The bank accounts for payouts, shortened to their last four characters; null if there is none.",
    "priceEur": "Price in euros, tax included; null if it is not sold in euros.",
    "priceInr": "Price in rupees, tax included; null if it is not sold in rupees.",
    "readme": "Text of the README.txt in the buyer's download.",
    "reviewId": "Id of the review.",
    "slot": "Gallery slot: 0 is the thumbnail, 1 to 4 are slides.",
    "submittedAt": "Time of the submission; null if it was not submitted.",
    "toolSchemas": "What an agent can do with the asset, as JSON Schemas.",
    "updateStatus": "PendingReview while a new file of a published listing is in review, otherwise null.",
    "uploadedAt": "Time of the upload.",
    "userId": "Id of the user.",
    "variableAxes": "Tags of the variable axes, such as wght.",
    "vendorId": "Id of the vendor's user.",
}
describe = describe_with(DESCRIPTIONS)
