"""The triggers that prevent changes to published licence terms, and two discounts of a listing at the same time (see `marketplace.core.triggers`)."""

from marketplace.core.triggers import Trigger, TriggerSet, refusal_sql

DISCOUNTS = "catalog_discount"
_MESSAGE = "another discount applies at that time"
_OVERLAPS = f"""
SELECT 1 FROM {DISCOUNTS} other
 WHERE other.listing_id = NEW.listing_id AND other.code = NEW.code AND other.id <> NEW.id
   AND other.starts_at < NEW.ends_at AND NEW.starts_at < other.ends_at
"""  # noqa: S608 - our own names
# The lock makes concurrent changes wait for each other; the statement after it sees what they have committed.
_FUNCTION = f"""
CREATE OR REPLACE FUNCTION catalog_discount_alone() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    PERFORM 1 FROM catalog_listing WHERE id = NEW.listing_id FOR NO KEY UPDATE;
    IF EXISTS ({_OVERLAPS}) THEN
        RAISE EXCEPTION 'refused: {_MESSAGE}' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END
$body$
"""


def _overlap_trigger(vendor: str, event: str) -> Trigger:
    """Return the trigger that refuses overlapping discounts at an INSERT or UPDATE."""
    if vendor == "postgresql":
        body = "FOR EACH ROW EXECUTE FUNCTION catalog_discount_alone()"
    else:
        body = f"WHEN EXISTS ({_OVERLAPS}) {refusal_sql('sqlite', 'catalog', _MESSAGE)}"
    return Trigger(f"{DISCOUNTS}_alone_{event.lower()}", DISCOUNTS, f"BEFORE {event}", body)


CATALOG_TRIGGERS = TriggerSet(
    app="catalog",
    message="licence terms are only added",
    append_only=("catalog_licenseterms",),
    others={vendor: [_overlap_trigger(vendor, event) for event in ("INSERT", "UPDATE")] for vendor in ("postgresql", "sqlite")},
    functions=(_FUNCTION,),
)
