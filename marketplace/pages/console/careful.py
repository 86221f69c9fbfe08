"""Operations that the developer console asks about before it calls them, because they change real data."""

ASKED = {
    "buyAsset": "This is a real purchase: your wallet is charged at once, within the limits that you set for this app.",
    "updateListing": "A published listing changes at once, including its price: buyers see and pay it.",
    "deleteListing": "The draft is deleted with its files and previews. This can't be undone.",
    "setRegionalPrices": "A published listing changes at once: buyers pay the new prices.",
    "setLicensing": "A published listing changes at once: buyers are offered these licences.",
    "unpublishListing": "The listing leaves the catalog at once. To be sold again it must be reviewed again.",
    "reportLeakedCredentials": "The credentials you name are revoked permanently, and their owners get a mail. The response doesn't show whether they were valid.",
}
