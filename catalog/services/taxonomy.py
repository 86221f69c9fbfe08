"""Changes of categories, licence tiers and synonyms by staff."""

from decimal import Decimal
from typing import Any

import orjson
from django.db import transaction
from django.db.models import Model

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.transitions import lock

from .. import bounds
from ..catalog_version import change_version
from ..models import Category, LicenseTerms, LicenseTier, ListingIndex, SearchSynonym
from ..models.search import SYNONYMS_CHARS
from ..search.words import words_of
from ..selectors.browse import count_listings_on_sale
from ..selectors.taxonomy import current_terms
from ..uses import UNITS, Use, UsePermission
from .listing_index import rebuild_listing_index, refresh_category, refresh_listings

# The most listings whose prices are updated in the request itself, which takes a few seconds; those of more are updated by a job.
REPRICED_AT_ONCE = 2_000
# The most active synonyms; every process keeps them in memory.
MAX_ACTIVE_SYNONYMS = 500


@transaction.atomic
def save_category(*, category: Category, changed: list[str], actor: User) -> Category:
    """Save a new or changed category and invalidate cached responses.

    Raises:
        InvalidInput: its metadata is not valid.
    """
    check_category(category)
    _save(category, changed, actor)
    refresh_category(category)
    return category


def check_category(category: Category) -> None:
    """Validate the metadata of a category, which the API returns.

    Raises:
        InvalidInput: it is no JSON object, or one that not every database can store.
    """
    try:
        text = orjson.dumps(category.metadata)
    except orjson.JSONEncodeError:
        text = b"null"
    # `NaN` becomes null.
    if not isinstance(category.metadata, dict) or orjson.loads(text) != category.metadata or rb"\u0000" in text:
        raise texts.invalid("metadata", "invalid", 'Enter a JSON object, such as {"badge": "New"}.')


@transaction.atomic
def save_license_tier(*, tier: LicenseTier, changed: list[str], actor: User) -> LicenseTier:
    """Save a new or changed licence tier. Quotes and purchases use its prices at once. A new name is a new version of its terms.

    Raises:
        InvalidInput: it is active but has no terms.
    """
    # Purchases of the tier, which refer to it, do not wait.
    before = LicenseTier.objects.select_for_update(no_key=True).filter(pk=tier.pk).first()
    check_tier(tier)
    factors = {}
    if before and before.price_factor != tier.price_factor:
        factors = {"factor_before": _factor_text(before.price_factor), "factor_after": _factor_text(tier.price_factor)}
    _save(tier, changed, actor, **factors)
    if before and before.name != tier.name and (terms := current_terms().get(tier.pk)):
        publish_terms(terms=LicenseTerms(tier=tier, text=terms.text, permissions=terms.permissions), changed=["name"], actor=actor)
    if before is None or (before.price_factor, before.sort_order, before.is_active) != (tier.price_factor, tier.sort_order, tier.is_active):
        # In a large catalog, lists and details show the new prices once the job is done.
        if count_listings_on_sale() > REPRICED_AT_ONCE:
            rebuild_listing_index.enqueue()
        else:
            refresh_listings(list(ListingIndex.objects.values_list("pk", flat=True)))
    return tier


def check_tier(tier: LicenseTier) -> None:
    """Validate a licence tier.

    Raises:
        InvalidInput: it is active but has no terms.
    """
    if tier.is_active and tier.pk not in current_terms():
        raise texts.invalid("is_active", "no_terms", "Publish its terms first: nothing is sold without terms.")


@transaction.atomic
def publish_terms(*, terms: LicenseTerms, changed: list[str], actor: User) -> LicenseTerms:
    """Save new terms as the next version of their tier's; purchases from now on are made under them.

    Raises:
        InvalidInput: the permissions do not fit the text, or these are the present terms.
    """
    tier = lock(LicenseTier.objects.all(), pk=terms.tier_id)
    check_terms(terms)
    last = current_terms().get(tier.pk)
    terms.version, terms.name = (1 if last is None else last.version + 1), tier.name
    _save(terms, changed, actor)
    return terms


def check_terms(terms: LicenseTerms) -> None:
    """Validate the permissions of terms, and that they are new.

    Raises:
        InvalidInput: the permissions do not fit the text, or these are the present terms.
    """
    last, text = current_terms().get(terms.tier_id), " ".join(terms.text.split())
    present = None if last is None or last == terms else (" ".join(last.text.split()), last.permissions, last.name)
    if present == (text, terms.permissions, terms.tier.name):
        raise texts.invalid("text", "unchanged", "These are the present terms already.")
    for use, stored in terms.permissions.items():
        label, counted = Use(use).label, stored["permission"] == UsePermission.UP_TO
        if counted != (stored.get("quantity") is not None) or (counted and use not in UNITS):
            raise texts.invalid("permissions", "quantity", f"{label}: enter a quantity if it is allowed up to one, and only then.")
        clause = " ".join(stored["clause"].split())
        if not 0 < len(clause) <= bounds.CLAUSE_CHARS or clause not in text:
            raise texts.invalid("permissions", "clause", f"{label}: copy the passage of the text that says so.")


@transaction.atomic
def save_synonym(*, synonym: SearchSynonym, changed: list[str], actor: User) -> SearchSynonym:
    """Save a new or changed entry of the list of synonyms; searches use it at once.

    Raises:
        InvalidInput: the word is not a single word, there are no synonyms or too many, or too many entries are active.
    """
    check_synonym(synonym)
    _save(synonym, changed, actor)
    return synonym


def check_synonym(synonym: SearchSynonym) -> None:
    """Normalise the words of an entry and validate it.

    Raises:
        InvalidInput: see `save_synonym`.
    """
    word, synonyms = " ".join(words_of(synonym.word)), list(dict.fromkeys(words_of(synonym.synonyms)))
    if not word or " " in word:
        raise texts.invalid("word", "invalid", "Enter one word.")
    if not synonyms or word in synonyms:
        raise texts.invalid("synonyms", "invalid", "Enter one or more other words, separated by spaces.")
    synonym.word, synonym.synonyms = word, " ".join(synonyms)
    if len(synonym.synonyms) > SYNONYMS_CHARS:
        raise texts.invalid("synonyms", "max_length", f"Enter at most {SYNONYMS_CHARS} characters.")
    if SearchSynonym.objects.filter(word=synonym.word).exclude(pk=synonym.pk).exists():
        raise texts.invalid("word", "unique", "This word is in the list already.")
    if synonym.is_active and SearchSynonym.objects.filter(is_active=True).exclude(pk=synonym.pk).count() >= MAX_ACTIVE_SYNONYMS:
        raise texts.invalid(
            "is_active", "max_length", f"At most {MAX_ACTIVE_SYNONYMS} entries are in use at once. Disable another one first."
        )


def _save(row: Model, changed: list[str], actor: User, **details: Any) -> None:
    audit.save_and_record(row, changed=changed, actor=actor, **details)
    change_version()


def _factor_text(factor: Decimal) -> str:
    return f"{factor.normalize():f}"
