"""Refusals of developer access."""

from marketplace.core.errors import Problem


class ApplicationOpen(Problem):
    """409: one application at a time."""

    status = 409
    title = "An application is already open"
    detail = "Wait for the decision on your open application, or answer the question in it."


class DeveloperAlreadyApproved(Problem):
    """409: a verified developer has nothing to apply for."""

    status = 409
    title = "The developer is already approved"
    detail = "An approved application stands; apps can be made right away."


class DeveloperNotApproved(Problem):
    """403: only a verified developer may have apps."""

    status = 403
    title = "The developer is not approved"
    detail = "Apps are for verified developers: apply, and wait for the approval."


class AppNotApproved(Problem):
    """409: the app has no grant yet, or is suspended."""

    status = 409
    title = "The app is not approved"
    detail = "A key can be made once an admin has approved the app."


class ScopeNotAvailable(Problem):
    """400: an app cannot have this scope."""

    status = 400
    title = "The scope cannot be granted here"


class ScopeAlreadyGranted(Problem):
    """409: `scopes` names what the app has already."""

    status = 409
    title = "The app already has the scope"
    detail = "Ask only for scopes that the app was not granted yet."


class ScopeNotGranted(Problem):
    """409: `scopes` names what cannot be taken back, because the app does not have it."""

    status = 409
    title = "The app does not have the scope"
    detail = "Only a granted scope can be taken back. Read the app again."


class ScopeReviewOpen(Problem):
    """409: one request for scopes at a time."""

    status = 409
    title = "A request for scopes is already open"
    detail = "Wait for the decision on the app's open request."


class DecisionsIncomplete(Problem):
    """400: `missing` and `unknown` name the scopes that the decisions leave out or make up."""

    status = 400
    title = "Each requested scope needs a decision"
    detail = "Grant or refuse each scope of the open request, and no other."


class ExpiryRequired(Problem):
    """400: a personal token must end within a year."""

    status = 400
    title = "An expiry within one year is needed"


class ExpiryPassed(Problem):
    """400: a key cannot end before it begins."""

    status = 400
    title = "The expiry lies in the past"
    detail = "Choose a later expiry, or none."


class PasswordRequired(Problem):
    """403: what spends or takes out money needs the password again."""

    status = 403
    title = "The password is needed again"
    detail = "A token with wallet:spend can spend your money: enter your password to make it."


class SpendingLimitRequired(Problem):
    """400: a program that may spend someone's money is told how much."""

    status = 400
    title = "A spending limit is needed"
    detail = "Say how much may be spent, in at least one currency. A currency without a limit cannot be spent."


class LastSpendingLimit(Problem):
    """409: a token that may spend keeps a limit."""

    status = 409
    title = "The token needs a spending limit"
    detail = "Change the limit, set one in the other currency first, or revoke the token."


class TooManyKeys(Problem):
    """409: `maximum` live keys are enough to rotate them."""

    status = 409
    title = "The app has too many live keys"
    detail = "Revoke a key that is no longer used, then make a new one."


class TooManyTokens(Problem):
    """409: `maximum` live personal tokens for each user."""

    status = 409
    title = "You have too many live tokens"
    detail = "Revoke a token that is no longer used, then make a new one."


class TooManyApps(Problem):
    """409: `maximum` apps for each developer."""

    status = 409
    title = "You have too many apps"
    detail = "Use one of your apps, or ask an admin."


class TooManyRedirectUris(Problem):
    """409: `maximum` redirect URIs for each app."""

    status = 409
    title = "The app has too many redirect URIs"
    detail = "Keep those that the app uses."


class TooManyClientsWaiting(Problem):
    """409: clients that describe themselves wait for a reviewer."""

    status = 409
    title = "Too many clients wait for a review"
    detail = "Clients of this host wait for a review already. Try again once they are decided."


class TooManyWebhookEndpoints(Problem):
    """409: `maximum` webhook endpoints for each app."""

    status = 409
    title = "The app has too many webhook endpoints"
    detail = "Delete one that the app no longer uses."


class TooManyTestEvents(Problem):
    """409: events that are sent by hand keep a distance."""

    status = 409
    title = "That was a moment ago"
    detail = "Wait a minute before you send another one by hand."
