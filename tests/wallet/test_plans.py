"""What a purchase reads does not grow with what the asset sold, nor with what the buyer owns."""

from typing import Any

import pytest
from django.db import connection

from library.models import Licence
from tests.shop import bought, on_sale
from wallet import sql

pytestmark = pytest.mark.database

MANY = 1_000
COPIED = (
    "claim_digest, licensee_name, tier_id, terms_id, title, store_name, version, ai_training, deliverable_id, acquired_at, revoke_reason"
)


def add_licences(licence: Licence, holders: str, listings: str, licensees: str = "''") -> None:
    """Add copies of a licence, with keys that the session does not check."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO library_licence (id, holder_id, listing_id, order_id, licensee_email, {COPIED}) "  # noqa: S608 - our own columns
            f"SELECT gen_random_uuid(), {holders}, {listings}, gen_random_uuid(), {licensees}, {COPIED} "
            "FROM library_licence, generate_series(1, %s) WHERE id = %s",
            [MANY, licence.pk],
        )


def plan_of_an_offer(cursor: Any, licence: Licence, whose_licences: str, **values: Any) -> str:
    """Return how PostgreSQL finds the offer, and delete the copies."""
    offer = sql.OFFER.format(column="id", lock_timeout="NULL", now=sql.NOW["postgresql"], whose_licences=whose_licences)
    values |= {"buyer": licence.holder_id, "listing": licence.listing_id, "code": ""}
    cursor.execute(f"EXPLAIN {offer}", values | {"default_commission_bp": 0, "default_currency": "INR"})
    plan = "\n".join(row[0] for row in cursor.fetchall())
    cursor.execute("SET LOCAL session_replication_role = origin")
    cursor.execute("DELETE FROM library_licence WHERE id <> %s", [licence.pk])
    return plan


@pytest.mark.postgres
@pytest.mark.django_db
def test_owned_licences_are_found_by_an_index_on_holder_and_listing() -> None:
    licence = Licence.objects.get(order_id=bought(on_sale()).pk)
    with connection.cursor() as cursor:
        # The keys of the copies lead nowhere: they are not checked, and gone with the test.
        cursor.execute("SET LOCAL session_replication_role = replica")
        add_licences(licence, "gen_random_uuid()", "gen_random_uuid()")
        cursor.execute("ANALYZE library_licence")
        # Of this listing to others, and of other listings to this holder.
        add_licences(licence, "gen_random_uuid()", "listing_id")
        add_licences(licence, "holder_id", "gen_random_uuid()")
        assert "licence_one_unrevoked" in plan_of_an_offer(cursor, licence, sql.OF_BUYER)


@pytest.mark.postgres
@pytest.mark.django_db
def test_licences_of_a_licensee_are_found_by_an_index_on_the_address() -> None:
    licence = Licence.objects.get(order_id=bought(on_sale()).pk)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        add_licences(licence, "gen_random_uuid()", "listing_id", "gen_random_uuid()::text")
        cursor.execute("ANALYZE library_licence")
        assert "licence_one_for_licensee" in plan_of_an_offer(cursor, licence, sql.OF_LICENSEE, licensee="a@client.example")
