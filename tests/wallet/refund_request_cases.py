"""Purchases whose buyers ask for refunds."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from library.models import Licence
from library.services.links import issue_link, record_download
from marketplace.accounts.models import User
from tests.shop import archive, bought, on_sale
from tests.vendors.cases import make_vendor
from wallet.models import Order, RefundRequest
from wallet.services.refund_requests import decline_refund, request_refund


def sold_order(**fields: Any) -> Order:
    return bought(on_sale(archive(), store=make_vendor().store, **fields))


def vendor_of(order: Order) -> User:
    return order.listing.store.owner


def downloaded_order(order: Order | None = None) -> Order:
    order = order or sold_order()
    record_download(link=issue_link(licence=Licence.objects.get(order_id=order.pk)), byte_range="")
    return order


def requested_refund(order: Order | None = None, **said: Any) -> RefundRequest:
    """Ask as the buyer does, for what was downloaded."""
    order = order or downloaded_order()
    return request_refund(order=order, **{"reason": "faulty", "details": "It does not open.", "actor": order.buyer, **said})


def declined_request(order: Order | None = None) -> RefundRequest:
    made = requested_refund(order)
    return decline_refund(refund_request=made, reason="It opens here.", actor=made.order.listing.store.owner)


def overdue_request(made: RefundRequest) -> RefundRequest:
    """Let the vendor's time be over."""
    RefundRequest.objects.filter(pk=made.pk).update(answer_by=F("answer_by") - timedelta(days=30))
    return made
