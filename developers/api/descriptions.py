"""Descriptions of fields and parameters of developers, by name, for those that have no help text of their own."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "appId": "Id of the app.",
    "credentials": "The keys and tokens that were found.",
    "endpointId": "Id of the webhook endpoint.",
    "grantedScopes": "The scopes that the app has now.",
    "received": "Number of credentials in the report.",
}
describe = describe_with(DESCRIPTIONS)
