"""Descriptions of field and parameter names that several operations of the library share; other fields have a help text."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "acquiredAt": "Time of the purchase.",
    "certificateId": "Id of the certificate.",
    "certificate_id": "Id of the certificate, as printed on it.",
    "licenseSlug": "Slug of the licence tier.",
    "list_id": "Id of the list, as in the credential: its purpose and number.",
    "revokedAt": "Time at which the licence was revoked; null if it was not. `status` says whether it is valid.",
}
describe = describe_with(DESCRIPTIONS)
