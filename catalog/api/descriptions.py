"""Descriptions of field and parameter names that several operations of the catalog share; other fields have a help text."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "EUR": "Price in euros; null if there is none.",
    "INR": "Price in rupees; null if there is none.",
    "USD": "Price in US dollars; null if there is none.",
    "aiOrigin": "What the vendor declares: parts made with AI (declared), no such parts (none), or nothing (undeclared).",
    "aiParts": "Which parts were made with AI, in the vendor's words; empty unless some are declared.",
    "aiTraining": "Whether it may be used to train AI models: allowed, forbidden, or as the terms of the licence say (by_licence).",
    "assetId": "Id of the asset.",
    "asset_id": "The asset's id or slug.",
    "category": "The category.",
    "discountPercent": "Discount in percent, deducted from each price.",
    "discountEndsAt": "When the discount ends; null for one that does not.",
    "facets": "For each requested filter the values it can have, with the number of matching assets.",
    "file": "The deliverable file.",
    "fileType": "Technical format, such as OTF.",
    "licenses": "The licence tiers under which the asset is sold, with their prices.",
    "listPrices": "Prices before the discount.",
    "preview_id": "Id of the preview.",
    "previews": "Images, sounds and fonts that show the asset.",
    "priceEUR": "Price in euros now, only shown: buyers pay in rupees or US dollars. Null if there is none.",
    "priceINR": "Price in rupees that a buyer pays now; null if there is none.",
    "priceUSD": "Price in US dollars that a buyer pays now; null if there is none.",
    "promptInstructions": "When and how to use the asset, for language models.",
    "publishedAt": "Time of publication; null before that.",
    "query": "The search term, as sent.",
    "schemaVersion": "Version of this schema.",
    "shortDescription": "One sentence about the asset.",
    "storeName": "Name of the store.",
    "storeSlug": "Name of the store in URLs; it never changes.",
    "summary": "Short description.",
    "supportedPlatforms": "Host tools that can use it, comma-separated.",
    "tags": "Tags, at most 20.",
    "taxRatePercent": "Tax in percent, included in the prices.",
    "technical": "Technical details found in the file; they depend on its kind.",
    "tier": "Account tier.",
    "tierRequirement": "Account tier that a buyer needs.",
    "title": "Title of the asset.",
    "tokenMetrics": "How many tokens the texts cost a language model.",
    "vendor": "The vendor's store.",
    "videoUrl": "https address of a video about the asset.",
}
describe = describe_with(DESCRIPTIONS)
