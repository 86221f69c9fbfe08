"""Addresses that are secrets by themselves: no log contains them, neither the service's own nor nginx's."""

SECRET_ADDRESSES = (
    "/api/v1/downloads/SECRET:sig",
    "/account/confirm-email/SECRET:sig/",
    "/account/password/reset/key/1-SECRET/",
    "/payout-details/undo/SECRET:sig",
    "/mails/unsubscribe/SECRET:sig",
    "/licences/claim/SECRET",
    "/library/skills/SECRET:sig/.well-known/agent-skills/index.json",
)
