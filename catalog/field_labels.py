"""Labels of the listing's fields, by their names in the API."""

FIELD_LABELS = {
    "title": "Title",
    "slug": "Address",
    "categorySlug": "Category",
    "shortDescription": "Summary",
    "description": "Description",
    "tags": "Tags",
    "version": "Version",
    "fileType": "File type",
    "supportedPlatforms": "Made for",
    "videoUrl": "Video",
    "basePrice": "Price in US dollars",
    "priceInr": "Price in rupees",
    "priceEur": "Price in euros",
    "discountPercent": "Discount",
    "taxRatePercent": "Tax",
    "allowedLicenseSlugs": "Licences",
    "aiTraining": "AI training",
    "aiOrigin": "Made with AI",
    "aiParts": "Parts made with AI",
    "readme": "Readme",
    "manifest": "Manifest",
    "file": "File",
    "previews": "Previews",
    "listing": "Listing",
}


def field_label(name: str) -> str:
    """Return the label of a field; unknown names, which reviewers may enter, are returned as they are."""
    return FIELD_LABELS.get(name, name)
