"""Descriptions of field and parameter names that several operations of the developers' endpoints share; other fields have a help text."""

from collections.abc import Mapping

from marketplace.api.descriptions import describe_with

DESCRIPTIONS: Mapping[str, str] = {
    "appId": "Id of the app.",
    "endpointId": "Id of the webhook endpoint.",
    "grantedScopes": "The scopes that the app has now.",
}
describe = describe_with(DESCRIPTIONS)
