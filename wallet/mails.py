"""Jobs that mail buyers and vendors about purchases and refunds, and publish the webhook events of purchases; mails to holders whose licence has ended."""

from django.db import transaction

from library.models import Licence
from library.services.claims import send_claim_link
from library.services.licences import lock_licence
from marketplace.accounts.models import MailTopic
from marketplace.jobs.policy import job
from marketplace.ui.mail import mail

from .models import Journal, Order, RefundRequest
from .models.ledger import JournalKind
from .selectors import collected_from
from .webhooks import publish_purchase, publish_sale


@job()
@transaction.atomic
def announce_purchase(order_id: str) -> None:
    """Tell buyer and vendor of a purchase, and the app that made it."""
    order = Order.objects.select_related("buyer", "listing__store__owner", "upgraded_from").get(pk=order_id)
    vendor = order.listing.store.owner
    licence = lock_licence(order_id=order.pk)
    if licence.holder_id is None and licence.revoked_at is None:
        send_claim_link(licence=licence, buyer=order.buyer)
    if order.buyer.is_active:
        mail(order.buyer, "wallet/purchased", topic=MailTopic.PURCHASE, order=order, licence=licence)
    if vendor.is_active:
        mail(vendor, "wallet/sold", topic=MailTopic.SALE, order=order)
    publish_sale(order)
    publish_purchase(order)


@job()
@transaction.atomic
def announce_refund(order_id: str) -> None:
    """Tell buyer and vendor of a refund, and another holder that the licence has ended."""
    order = Order.objects.select_related("buyer", "listing__store__owner", "upgraded_from").get(pk=order_id)
    vendor = order.listing.store.owner
    if order.buyer.is_active:
        credited = Journal.objects.filter(order=order, kind=JournalKind.REFUND, wallet__isnull=False).first()
        collected = 0 if credited is None else collected_from(credited)
        # The answer to a request is always sent.
        asked = RefundRequest.objects.filter(order=order).exists()
        mail(order.buyer, "wallet/refunded", topic="" if asked else MailTopic.REFUND, order=order, collected_minor=collected)
    tell_holder(order)
    if vendor.is_active:
        mail(vendor, "wallet/sale_refunded", topic=MailTopic.SALE, order=order)


def tell_holder(order: Order) -> None:
    """Mail the holder of a licence that someone else bought: it ended with the order, which was refunded or charged back."""
    licence = Licence.objects.select_related("holder").get(order_id=order.pk)
    if licence.is_for_other and licence.holder is not None and licence.holder.is_active:
        mail(licence.holder, "library/ended", licence=licence, order=order)
