"""Problem classes of the wallet."""

from marketplace.core.errors import Problem

from . import bounds


class RefundUnavailable(Problem):
    """409: the purchase was refunded or charged back, it was free (and no upgrade), its payment is disputed, or its licence was upgraded."""

    status = 409
    title = "A refund of this purchase cannot be asked for"


class RefundRequested(Problem):
    """409: `refundRequestId` is the request for this purchase."""

    status = 409
    title = "A refund of this purchase was asked for already"
    detail = "There is one request for each purchase; read its status."


class InsufficientBalance(Problem):
    """402: `price`, `balance` and `currency` are members."""

    status = 402
    title = "The wallet balance is too low"
    detail = "Add credit, then send the request again."


class TierRequired(Problem):
    """403: `requiredTier` names the account tier that the listing requires."""

    status = 403
    title = "A higher account tier is needed to buy this asset"


class PriceUnavailable(Problem):
    """409: `availableCurrencies` lists those in which it can be bought: none for an upgrade."""

    status = 409
    title = "The asset has no price in this currency"


class LicenseNotAvailable(Problem):
    """409: `availableLicenses` names the tiers on sale."""

    status = 409
    title = "The asset is not sold under this licence"


class OwnListing(Problem):
    """409: vendors cannot buy their own listings."""

    status = 409
    title = "This is your own listing"
    detail = "Vendors cannot buy what they sell."


class InvalidAmount(Problem):
    """400: an amount that cannot be moved, or not a currency of the wallet."""

    status = 400
    title = "The amount or currency is not valid"


class AlreadyCredited(Problem):
    """409: the same credit with the same reference exists; nothing needs to be done."""

    status = 409
    title = "This payment has been credited already"


class ReferenceUsed(Problem):
    """409: the payment was credited differently."""

    status = 409
    title = "The reference belongs to another credit"


class PayoutOpen(Problem):
    """409: another payout of the wallet waits."""

    status = 409
    title = "A payout of this wallet is already waiting"
    detail = "Wait until it is paid, or cancel it and ask again."


class TooManyPayouts(Problem):
    """409: `maximum` is the number of payouts of a wallet that can be requested in 24 hours."""

    status = 409
    title = "Too many payouts of this wallet in 24 hours"
    detail = "Try again in 24 hours."


class InvalidBillingDetails(Problem):
    """422: `errors` lists by pointer what is missing, or does not fit the country."""

    status = 422
    title = "The billing details do not fit together"
    detail = "Correct what each error names, then send the request again."


class InvoicePending(Problem):
    """409: the document will be issued within a minute."""

    status = 409
    title = "The invoice has not been issued yet"
    detail = "Invoices and credit notes are issued within a minute. Send the request again after the number of seconds in Retry-After."


class NotInvoiced(Problem):
    """404: a purchase without a price, or before the operator entered a seller; or a credit note of a purchase that was neither refunded nor charged back."""

    status = 404
    title = "There is no such document for this purchase"
    detail = "Free purchases, and those made before this marketplace issued invoices, have a receipt only; there is a credit note only for a purchase that was refunded or charged back."


class SpendingLimitExceeded(Problem):
    """403: `limit` is perPurchase, perDay, total, category or currency; `price`, `cap` and `left` are amounts in `currency`, the last two null for a category, for which `allowedCategories` is given."""

    status = 403
    title = "The spending limit does not allow this purchase"


class IdempotencyKeyRequired(Problem):
    """422: a purchase that may wait for an approval is completed by its idempotency key."""

    status = 422
    title = "An idempotency key is required to ask for approval"
    detail = "Send the header Idempotency-Key with a new random text; repeat the request with it to complete the purchase."


class ApprovalDeclined(Problem):
    """403: `approvalId` is the approval."""

    status = 403
    title = "The wallet's owner declined this purchase"
    detail = "Nothing was charged. Don't ask again unless the owner wants it."


class ApprovalExpired(Problem):
    """409: `approvalId` is the approval."""

    status = 409
    title = "The approval has expired"
    detail = (
        f"An approval ends {bounds.APPROVAL_HOURS} hours after it was asked for. Nothing was charged. Ask again with a new idempotency key."
    )


class TooManyApprovals(Problem):
    """409: `maximum` is the number of approvals that an app or a token can ask for in 24 hours."""

    status = 409
    title = "Too many approvals were asked for"
    detail = "Try again in 24 hours, or buy within the spending limits. Nothing was charged."


class DiscountCodeInvalid(Problem):
    """409: no discount of this listing has the code, or it has not begun."""

    status = 409
    title = "The discount code is not valid for this asset"
    detail = "Check the spelling, or buy it without the code. Nothing was charged."


class DiscountEnded(Problem):
    """409: `endsAt` has passed."""

    status = 409
    title = "The discount has ended"
    detail = "Without the code, the present price applies. Nothing was charged."


class UpgradeUnavailable(Problem):
    """409: the licence in upgradeFrom cannot be replaced by the one asked for."""

    status = 409
    title = "The licence cannot be upgraded like this"


class UpgradeCurrencyDiffers(Problem):
    """409: `currency` is that of the order of the licence."""

    status = 409
    title = "An upgrade is paid in the currency of the first purchase"


class QuoteExpired(Problem):
    """409: the time for which the quote was valid has passed."""

    status = 409
    title = "The quote has expired"
    detail = f"Request a new one; quotes are valid for {bounds.QUOTE_MINUTES} minutes. Nothing was charged."


class QuoteUsed(Problem):
    """409: `orderId` is the purchase that used it; it is missing if both purchases were made at the same moment."""

    status = 409
    title = "The quote has already been used"
    detail = "A purchase was made with it. Request a new quote for another purchase only."


class QuoteMismatch(Problem):
    """409: `field` names the differing field, `quoted` its value in the quote."""

    status = 409
    title = "The quote is for something else"


class TooManyQuotes(Problem):
    """409: `maximum` is the number of quotes that may be open at once."""

    status = 409
    title = "Too many open quotes"
    detail = "Use one of them, or wait until they expire."


class TopUpUnavailable(Problem):
    """409: `availableCurrencies` lists the currencies in which credit can be added."""

    status = 409
    title = "Credit cannot be added in this currency"


class TopUpLimitExceeded(Problem):
    """403: `limit` is once (the limit of a single top-up), day or balance; `maximum` and `left` are amounts in `currency`."""

    status = 403
    title = "The top-up is larger than the limit"


class InvalidReturnUrl(Problem):
    """422: returnUrl is not an address of the app."""

    status = 422
    title = "The payer cannot return to this address"


class TooManyTopUps(Problem):
    """409: `maximum` is the number of payment pages that may be open at once."""

    status = 409
    title = "Too many open payment pages"
    detail = f"Pay on one of them, or wait: a page closes after {bounds.TOP_UP_MINUTES} minutes."


class ReturnsToCard(Problem):
    """409: `available` is the amount in `currency` that can be paid out; the rest was paid by card and returns only to its card."""

    status = 409
    title = "Credit that was paid by card returns only to its card"


class PaymentProviderUnavailable(Problem):
    """503: the payment provider does not answer, or cannot be used at the moment."""

    status = 503
    title = "The payment provider does not answer"
    detail = "Nothing was charged. Try again in a minute."


class PaymentRefused(Problem):
    """409: the payment provider refuses the request, and would refuse it again."""

    status = 409
    title = "The payment provider refuses the payment"
    detail = "Nothing was charged. Try another amount, or tell the people who run this marketplace."


class PaymentPageClosed(Problem):
    """409: the top-up of this idempotency key ended before it had a payment page, or its provider is no longer used."""

    status = 409
    title = "The top-up can no longer get a payment page"
    detail = "Nothing was charged. Ask for a new payment page with another idempotency key."


class PaymentSignatureInvalid(Problem):
    """400: an event of a payment provider whose signature is missing, wrong or old."""

    status = 400
    title = "The signature of the event is not valid"


class PaymentEventInvalid(Problem):
    """400: a signed event that lacks what it must have."""

    status = 400
    title = "The event is not understood"


class PayoutBatchOpen(Problem):
    """409: `run` is being prepared in the same currency."""

    status = 409
    title = "Another payout run in this currency is not exported yet"
    detail = "Export it or cancel it first."
