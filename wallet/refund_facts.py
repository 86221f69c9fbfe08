"""The facts about a purchase that a decision on a refund request is based on."""

from dataclasses import dataclass

from library.certificates import certificate_status
from library.models import Download
from library.selectors import downloads_by, licences_of_orders
from marketplace.ui.formatting import money

from .models import Order
from .selectors import upgrade_of

DOWNLOADS_SHOWN = 50


@dataclass(frozen=True)
class RefundFacts:
    """What a decision on a refund is based on.

    Args:
        purchase: The names and values of facts about the purchase.
        downloads: The newest downloads of the asset by the holder of its licence, newest first.
        download_count: The number of all of them.
    """

    purchase: list[tuple[str, str]]
    downloads: list[Download]
    download_count: int


def refund_facts(order: Order) -> RefundFacts:
    """Return what a decision on a refund is based on; the buyer is not named."""
    licence, quote = licences_of_orders([order.pk]).get(order.pk), order.quote
    upgrade = upgrade_of(order)
    holder_id = None if licence is None else licence.holder_id
    downloads = Download.objects.none() if holder_id is None else downloads_by(holder_id, order.listing_id)
    purchase = [
        ("Bought", f"{order.created_at:%Y-%m-%d %H:%M} UTC"),
        ("Price", money(order.price_minor, order.currency)),
        ("Licence", f"{order.license_name}{f', version {order.version}' if order.version else ''}"),
        ("Licence status", "" if licence is None else certificate_status(licence).label),
        ("Quote", "none" if quote is None else f"{money(quote.price_minor, quote.currency)} until {quote.expires_at:%Y-%m-%d %H:%M} UTC"),
        ("Consent", order.consent_text or "none: it was bought by an app or a token"),
    ]
    if upgrade is not None:
        purchase.append(("Upgraded to", f"{upgrade.license_name}; it can be refunded once the upgrade is"))
    return RefundFacts(purchase, list(downloads.reverse()[:DOWNLOADS_SHOWN]), downloads.count())
