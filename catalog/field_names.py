"""What the fields of a listing are called where people read of them, by their names in the API."""

FIELD_NAMES = {
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
    "readme": "Readme",
    "file": "File",
    "previews": "Previews",
}


def field_name(name: str) -> str:
    """Return what a field is called; reviewers may name anything in their own words."""
    return FIELD_NAMES.get(name, name)
