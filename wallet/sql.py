"""SQL statements of purchases and of the ledger, for both databases; `offers`, `ledger` and `limits` of `wallet.services` run them.

With the ORM a purchase needs three times as many statements while it holds locks.
"""

import uuid
from datetime import datetime
from typing import Any

from django.db import connection

# The listing's offer: a row for each licence tier with its current terms, none if the listing is not on sale. A file that was marked as
# malicious is not sold, even before its listing is taken down. The version is decided as by `catalog.selectors.listings.version_of_file`.
OFFER = """
SELECT {lock_timeout}, listing.id AS listing_id, listing.title, category.slug AS category_slug, store.owner_id AS vendor_id,
       store.name AS store_name, listing.approved_deliverable_id AS deliverable_id,
       COALESCE(NULLIF(file.version, ''), listing.version) AS version, listing.ai_training, listing.tier_requirement,
       listing.allowed_license_slugs, listing.base_price_minor AS price_usd_minor, listing.price_inr_minor, listing.price_eur_minor,
       listing.discount_bp,
       (SELECT MAX(running.percent) FROM catalog_discount running
         WHERE running.listing_id = listing.id AND running.code = '' AND running.starts_at <= {now} AND running.ends_at > {now})
         AS scheduled_percent,
       (SELECT MAX(coded.percent) FROM catalog_discount coded
         WHERE coded.listing_id = listing.id AND coded.code = %(code)s AND coded.code <> ''
           AND coded.starts_at <= {now} AND coded.ends_at > {now}) AS code_percent,
       listing.tax_rate_bp, COALESCE(vendor.commission_rate_bp, %(default_commission_bp)s) AS commission_rate_bp,
       COALESCE(settings.currency_preference, %(default_currency)s) AS currency_preference,
       seller.id AS seller_id, seller.time_zone AS seller_time_zone, seller_details.country AS seller_country,
       seller_details.region AS seller_region,
       buyer_details.id AS buyer_details_id, buyer_details.country AS buyer_country, buyer_details.region AS buyer_region,
       buyer_details.tax_id AS buyer_tax_id, buyer_details.connection_country AS buyer_connection_country,
       tier.id AS tier_id, terms.id AS terms_id, tier.slug AS tier_slug, tier.name AS tier_name, tier.price_factor, tier.is_active,
       licence.order_id AS owned_by_order, licence.suspended_at IS NOT NULL AS suspended, licence.replaced_at IS NOT NULL AS replaced,
       licence.claim_sent_at IS NOT NULL AS is_for_other
  FROM catalog_listing listing
  JOIN catalog_category category ON category.id = listing.category_id
  JOIN catalog_store store ON store.id = listing.store_id
  JOIN catalog_deliverable file ON file.id = listing.approved_deliverable_id
  LEFT JOIN vendors_vendorprofile vendor ON vendor.store_id = store.id
  LEFT JOIN wallet_walletsettings settings ON settings.owner_id = %(buyer)s
  LEFT JOIN wallet_seller seller
         ON seller.id = (SELECT chosen.id FROM wallet_seller chosen
                          WHERE chosen.is_active AND (chosen.vendor_id = store.owner_id OR chosen.vendor_id IS NULL)
                          ORDER BY chosen.vendor_id IS NULL LIMIT 1)
  LEFT JOIN wallet_billingdetails seller_details ON seller_details.id = seller.details_id
  LEFT JOIN wallet_billingdetails buyer_details ON buyer_details.owner_id = %(buyer)s AND buyer_details.current
  LEFT JOIN catalog_licensetier tier ON TRUE
  LEFT JOIN catalog_licenseterms terms
         ON terms.tier_id = tier.id
        AND terms.version = (SELECT MAX(newest.version) FROM catalog_licenseterms newest WHERE newest.tier_id = tier.id)
  LEFT JOIN library_licence licence
         ON {whose_licences} AND licence.listing_id = listing.id AND licence.tier_id = tier.id AND licence.revoked_at IS NULL
 WHERE listing.{column} = %(listing)s AND listing.status = 'Published' AND store.is_open AND file.blocked_at IS NULL
 ORDER BY tier.sort_order, tier.slug
"""

# Whose licences prevent a purchase: the buyer's, or those that were bought for the licensee.
OF_BUYER = "licence.holder_id = %(buyer)s"
OF_LICENSEE = "licence.licensee_email = %(licensee)s AND licence.licensee_email <> ''"

# The row's current balance decides, and the row is locked until the end of the transaction.
DEBIT = """
UPDATE wallet_ledgeraccount
   SET balance_minor = balance_minor - %(amount)s, entries = entries + 1
 WHERE kind = 'wallet' AND owner_id = %(buyer)s AND currency = %(currency)s AND balance_minor >= %(amount)s
RETURNING id AS wallet, balance_minor AS balance, entries AS entry,
          (SELECT other.balance_minor FROM wallet_ledgeraccount other
            WHERE other.kind = 'wallet' AND other.owner_id = %(buyer)s AND other.currency <> %(currency)s) AS other_balance,
          (SELECT account.id FROM wallet_ledgeraccount account
            WHERE account.kind = 'vendor' AND account.owner_id = %(vendor)s AND account.currency = %(currency)s) AS vendor,
          (SELECT account.id FROM wallet_ledgeraccount account
            WHERE account.kind = 'commission' AND account.owner_id IS NULL AND account.currency = %(currency)s) AS commission,
          (SELECT account.id FROM wallet_ledgeraccount account
            WHERE account.kind = 'tax' AND account.owner_id IS NULL AND account.currency = %(currency)s) AS tax
"""

ADJUST_BALANCE = """
UPDATE wallet_ledgeraccount
   SET balance_minor = balance_minor + %(amount)s, entries = entries + 1
 WHERE id = %(wallet)s
RETURNING balance_minor AS balance, entries AS entry
"""

# The database's clock, at the beginning of the statement.
NOW = {"postgresql": "statement_timestamp()", "sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')"}

_SPENT = """
SELECT COALESCE(SUM(price_minor), 0) AS ever, COALESCE(SUM(CASE WHEN created_at >= %(midnight)s THEN price_minor END), 0) AS today
  FROM wallet_order
 WHERE buyer_id = %(buyer)s AND currency = %(currency)s AND status = 'Completed'
"""
SPENT_BY_APP = f"{_SPENT} AND app_id = %(spender)s"
SPENT_BY_TOKEN = f"{_SPENT} AND spender_id = %(spender)s"


def run(statement: str, **values: Any) -> list[dict[str, Any]]:
    """Run a statement and return its rows, by column. Ids may come as text: see `as_id`."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {name: _parameter(value) for name, value in values.items()})
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def as_id(value: Any) -> uuid.UUID:
    """Return an id as UUID; SQLite stores ids as text."""
    return value if isinstance(value, uuid.UUID) else uuid.UUID(value)


def _parameter(value: Any) -> Any:
    if isinstance(value, uuid.UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
