"""Operations that the developer console asks about before it calls them, because they change real data."""

ASKED = {
    "buyAsset": "This buys for real: the price leaves your wallet at once, within the limits that you set for this app.",
    "updateListing": "A published listing changes at once, its price too: buyers see it and pay it.",
    "setRegionalPrices": "A published listing changes at once: buyers pay the new prices.",
    "setLicensing": "A published listing changes at once: buyers are offered these licences.",
    "unpublishListing": "The listing leaves the catalog at once. To be sold again it must be reviewed again.",
    "reportLeakedCredentials": "What is named here is revoked for good, and its owner gets a mail. No answer tells whether it was real.",
}
