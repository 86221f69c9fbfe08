"""The demo's refund request, which waits for the vendor's answer."""

from library.selectors import licences_of_orders
from library.services.links import issue_link, record_download
from marketplace.accounts.models import User
from wallet.models import RefundRequest
from wallet.models.refund_requests import RefundReason
from wallet.selectors import orders_of
from wallet.services.refund_requests import request_refund


def make_refund_request(customer: User) -> None:
    """Let the customer download the last purchase and ask for a refund, unless there is a request."""
    order = orders_of(customer).select_related("listing__store__owner").first()
    if order is None or RefundRequest.objects.filter(order__buyer=customer).exists():
        return
    # What was not downloaded would be refunded at once.
    record_download(link=issue_link(licence=licences_of_orders([order.pk])[order.pk]), byte_range="")
    request_refund(order=order, reason=RefundReason.NOT_AS_DESCRIBED, details="I cannot edit the text in it.", actor=customer)
