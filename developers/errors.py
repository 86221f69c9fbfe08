"""Errors of developer access."""

from marketplace.core.errors import Problem


class ApplicationOpen(Problem):
    """409: the user already has an open application."""

    status = 409
    title = "An application is already open"
    detail = "Wait for the decision on your open application, or answer the question in it."


class DeveloperAlreadyApproved(Problem):
    """409: the user is already an approved developer."""

    status = 409
    title = "The developer is already approved"
    detail = "The application is already approved; create an app right away."


class DeveloperNotApproved(Problem):
    """403: only an approved developer may have apps."""

    status = 403
    title = "The developer is not approved"
    detail = "Only approved developers can have apps. Apply, then wait for the approval."


class AppNotApproved(Problem):
    """409: the app is not approved, is suspended, or has no granted scopes."""

    status = 409
    title = "The app is not approved"
    detail = "A key needs an approved app with granted scopes. The page of the app says what it waits for."


class ScopeNotAvailable(Problem):
    """400: `scopes` names those that no app can have; `available` those that a page can have."""

    status = 400
    title = "The scope cannot be granted here"


class ScopeAlreadyGranted(Problem):
    """409: `scopes` names the scopes that the app already has."""

    status = 409
    title = "The app already has the scope"
    detail = "Request only scopes that the app doesn't have yet."


class ScopeNotGranted(Problem):
    """409: `scopes` names scopes that cannot be withdrawn because the app does not have them."""

    status = 409
    title = "The app does not have the scope"
    detail = "Only a granted scope can be withdrawn. Reload the app."


class ScopeReviewOpen(Problem):
    """409: the app already has an open request for scopes."""

    status = 409
    title = "A request for scopes is already open"
    detail = "Wait for the decision on the app's open request."


class LogoNotReviewable(Problem):
    """409: the app has no open request for scopes, with which a reviewer would see its logo."""

    status = 409
    title = "The logo can only be set with a request for scopes"
    detail = "Request scopes for the app first, then set its logo: the same reviewer approves both."


class DecisionsIncomplete(Problem):
    """400: `missing` names requested scopes without a decision, `unknown` scopes that were not requested."""

    status = 400
    title = "Each requested scope needs a decision"
    detail = "Grant or refuse exactly the scopes of the open request."


class ExpiryRequired(Problem):
    """400: a personal token or an MCP token must expire in the future, within a year."""

    status = 400
    title = "An expiry date within one year is required"


class ExpiryPassed(Problem):
    """400: an API key cannot expire in the past."""

    status = 400
    title = "The expiry date is in the past"
    detail = "Choose a later date, or none."


class PasswordRequired(Problem):
    """403: the password is required again, because this spends money, lets a program spend it, or decides where it is paid."""

    status = 403
    title = "Your password is required again"
    detail = "A token with wallet:spend can spend your money. Enter your password to create it."


class SpendingLimitRequired(Problem):
    """400: a credential that can spend money needs a spending limit."""

    status = 400
    title = "A spending limit is required"
    detail = "Set a limit in at least one currency. Nothing can be spent in a currency without a limit."


class LastSpendingLimit(Problem):
    """409: a token that can spend money must keep at least one limit."""

    status = 409
    title = "The token needs a spending limit"
    detail = "Change the limit, set one in the other currency first, or revoke the token."


class TooManyKeys(Problem):
    """409: the app already has `maximum` active keys."""

    status = 409
    title = "The app has too many active keys"
    detail = "Revoke a key that is no longer used, then create a new one."


class TooManyTokens(Problem):
    """409: the user or app already has `maximum` active tokens."""

    status = 409
    title = "There are too many active tokens"
    detail = "Revoke a token that is no longer used, then create a new one."


class TooManyApps(Problem):
    """409: the developer already has `maximum` apps that are not rejected."""

    status = 409
    title = "You have too many apps"
    detail = "Use one of your apps, or ask our staff."


class TooManyRedirectUris(Problem):
    """409: an app can have at most `maximum` redirect URIs."""

    status = 409
    title = "The app has too many redirect URIs"
    detail = "Remove those that the app no longer uses."


class TooManyClientsWaiting(Problem):
    """409: the maximum number of new OAuth clients is waiting for review."""

    status = 409
    title = "Too many clients are waiting for review"
    detail = "Try again after some of them have been reviewed."


class TooManyWebhookEndpoints(Problem):
    """409: the app already has `maximum` webhook endpoints."""

    status = 409
    title = "The app has too many webhook endpoints"
    detail = "Delete one that the app no longer uses."


class WebhookUrlRefused(Problem):
    """422: no events are sent to this address."""

    status = 422
    title = "The webhook's address is refused"


class TooManyTestEvents(Problem):
    """409: the endpoint got the maximum of test events in the last minute, or the same delivery ended a few seconds ago."""

    status = 409
    title = "A test or a delivery was sent a moment ago"
    detail = "Wait a minute before you send it again."
