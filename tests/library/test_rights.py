"""Whether an asset may be used for something: GET assets/{id}/rights, the pages of it and of licence terms, and new versions of terms."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from catalog.ai_use import training_sentence
from catalog.models import LicenseTerms, LicenseTier, Listing
from catalog.services.taxonomy import publish_terms, save_license_tier
from catalog.uses import Use
from library.services.licences import suspend_licences
from marketplace.core.errors import InvalidInput
from marketplace.core.scopes import Scope
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

TEXT = "You may print it up to 500 times.\nYou may use it at home.  You may not\n  resell it."
PERMISSIONS: dict[str, dict[str, Any]] = {
    "personal": {"permission": "allowed", "clause": "use it at home"},
    "print_run": {"permission": "up_to", "quantity": 500, "clause": "print it up to 500 times"},
    "template_resale": {"permission": "forbidden", "clause": "You may not resell it."},
}
# What the seeded licences answer: of the personal, the commercial and the extended one.
ANSWERS = {
    ("personal", 1): ("buy", "personal", "yes yes yes"),
    ("commercial_project", 1): ("buy", "commercial", "no yes yes"),
    ("client_work", 1): ("buy", "commercial", "no yes yes"),
    ("print_run", 1): ("buy", "personal", "yes yes yes"),
    ("print_run", 100): ("buy", "personal", "yes yes yes"),
    ("print_run", 101): ("buy", "commercial", "no yes yes"),
    ("print_run", 10_000): ("buy", "commercial", "no yes yes"),
    ("print_run", 10_001): ("buy", "extended", "no no yes"),
    ("merchandise", 10_001): ("buy", "extended", "no no yes"),
    ("app", 1): ("buy", "extended", "unclear unclear yes"),
    ("web_traffic", 1_000_001): ("buy", "extended", "no no yes"),
    ("broadcast", 1): ("buy", "commercial", "unclear yes yes"),
    ("team", 1): ("buy", "personal", "yes yes yes"),
    ("team", 25): ("buy", "commercial", "no yes yes"),
    ("team", 1_000_000_000): ("buy", "extended", "no no yes"),
    ("template_resale", 1): ("unclear", None, "no unclear unclear"),
    ("ai_training", 1): ("no", None, "no no no"),
    ("redistribution", 1): ("no", None, "no no no"),
}


def publish(slug: str, text: str = TEXT, permissions: dict[str, Any] | None = None) -> LicenseTerms:
    terms = LicenseTerms(
        tier=LicenseTier.objects.get(slug=slug), text=text, permissions=PERMISSIONS if permissions is None else permissions
    )
    return publish_terms(terms=terms, changed=["text"], actor=UserFactory(is_staff=True))


def rights(client: Any, listing: Listing, use: str = "print_run", **query: Any) -> Any:
    response = client.get(f"/api/v1/assets/{listing.slug}/rights", {"use": use, **query})
    assert response.status_code == 200, response.content
    return response.json()


def test_use_is_answered_with_the_cheapest_licence_that_permits_it(anonymous: APIClient) -> None:
    listing = on_sale(ai_training="by_licence")
    texts = {terms.tier.slug: terms.text for terms in LicenseTerms.objects.select_related("tier")}
    for (use, quantity), expected in ANSWERS.items():
        answer = rights(anonymous, listing, use, quantity=quantity)
        verdicts = " ".join(each["verdict"] for each in answer["licenses"])
        assert (answer["decision"], answer["licenseSlug"], verdicts) == expected, (use, quantity)
        for each in answer["licenses"]:
            assert " ".join(each["clause"].split()) in " ".join(texts[each["slug"]].split())
            assert bool(each["clause"]) == (each["permission"] != "not_said")
            assert each["termsSha256"] == hashlib.sha256(texts[each["slug"]].encode()).hexdigest()
            assert (each["termsVersion"], each["owned"]) == (1, False)
    assert {use for use, _ in ANSWERS} == set(Use)


@pytest.mark.parametrize(("ai_training", "decision"), [("allowed", "buy"), ("forbidden", "no")])
def test_statement_of_the_vendor_about_ai_training_overrides_the_licences(anonymous: APIClient, ai_training: str, decision: str) -> None:
    answer = rights(anonymous, on_sale(ai_training=ai_training), "ai_training")
    assert answer["decision"] == decision
    assert {each["clause"] for each in answer["licenses"]} == {training_sentence(ai_training)}


@pytest.mark.database
def test_term_for_ai_training_of_the_purchase_stays(bearer_client: Callable[..., APIClient]) -> None:
    order = bought(on_sale(ai_training="allowed"))
    Listing.objects.update(ai_training="forbidden")
    assert rights(bearer_client(order.buyer), order.listing, "ai_training")["decision"] == "yes"


def test_only_licences_that_the_vendor_permits_count_at_their_prices_now(anonymous: APIClient) -> None:
    listing = on_sale(allowed_license_slugs=["personal", "extended"], discount_bp=1000)
    answer = rights(anonymous, listing, "client_work")
    assert [(each["slug"], each["priceINR"]) for each in answer["licenses"]] == [("personal", 449.1), ("extended", 2245.5)]
    assert answer["licenseSlug"] == "extended"


@pytest.mark.database
def test_owned_licence_permits_what_it_permitted_at_the_purchase_to_a_credential_that_may_see_it(
    bearer_client: Callable[..., APIClient],
) -> None:
    order = bought(on_sale())
    listing, buyer = order.listing, order.buyer
    publish("personal", "Nothing is allowed.", {"print_run": {"permission": "forbidden", "clause": "Nothing is allowed."}})
    answer = rights(bearer_client(buyer), listing, quantity=100)
    assert (answer["decision"], answer["licenseSlug"]) == ("yes", "personal")
    first = answer["licenses"][0]
    assert (first["owned"], first["priceINR"], first["termsVersion"], first["termsSha256"]) == (True, None, 1, order.terms.sha256)
    more = rights(bearer_client(buyer), listing, quantity=101)
    assert (more["decision"], more["licenseSlug"]) == ("buy", "commercial")
    assert [each["slug"] for each in more["licenses"]] == ["personal", "commercial", "extended"]
    assert rights(bearer_client(buyer, scopes=[Scope.ACCOUNT_READ]), listing, quantity=100)["decision"] == "buy"


def test_suspended_licence_permits_nothing_and_is_not_overlooked(bearer_client: Callable[..., APIClient]) -> None:
    listing, buyer = on_sale(allowed_license_slugs=["personal", "commercial"]), funded(inr=1_000_000)
    suspend_licences(order_ids=[bought(listing, buyer).pk], reason="test")
    answer = rights(bearer_client(buyer), listing)
    assert (answer["decision"], answer["licenseSlug"]) == ("buy", "commercial")
    # Of another asset the licence that would permit it is suspended, and the one on sale forbids it.
    listing = on_sale(allowed_license_slugs=["personal", "commercial"])
    suspend_licences(order_ids=[bought(listing, buyer, license_slug="commercial").pk], reason="test")
    assert rights(bearer_client(buyer), listing, "client_work")["decision"] == "unclear"
    assert rights(bearer_client(UserFactory()), listing, "app")["decision"] == "unclear"


def test_licence_that_an_upgrade_replaced_is_not_offered_for_sale(bearer_client: Callable[..., APIClient]) -> None:
    listing, buyer = on_sale(), funded(inr=1_000_000)
    bought(listing, buyer)
    upgrade = bought(listing, buyer, license_slug="commercial", upgrade_from="personal")
    answer = rights(bearer_client(buyer), listing)
    assert [(each["slug"], each["owned"]) for each in answer["licenses"]] == [("commercial", True), ("extended", False)]
    suspend_licences(order_ids=[upgrade.pk], reason="test")
    # While the upgrade is disputed, a purchase of the replaced licence would be refused too.
    assert rights(bearer_client(buyer), listing)["licenseSlug"] == "extended"


def test_asset_that_left_the_catalog_is_answered_to_its_owners_only(anonymous: APIClient, bearer_client: Callable[..., APIClient]) -> None:
    order = bought(on_sale())
    Listing.objects.update(status="Draft")
    address = f"/api/v1/assets/{order.listing_id}/rights?use=print_run"
    assert [client.get(address).status_code for client in (anonymous, bearer_client(UserFactory()))] == [404, 404]
    assert [each["slug"] for each in rights(bearer_client(order.buyer), order.listing)["licenses"]] == ["personal"]


@pytest.mark.database
def test_rights_follow_new_terms_at_once(anonymous: APIClient) -> None:
    listing = on_sale()
    assert rights(anonymous, listing, quantity=400)["licenseSlug"] == "commercial"
    new = publish("personal")
    answer = rights(anonymous, listing, quantity=400)
    assert (answer["licenseSlug"], answer["licenses"][0]["termsVersion"]) == ("personal", 2)
    assert answer["licenses"][0]["termsUrl"].endswith(reverse("license-terms", args=["personal", new.version]))


@pytest.mark.database
def test_published_terms_are_never_changed() -> None:
    for change in ("UPDATE catalog_licenseterms SET text = ''", "DELETE FROM catalog_licenseterms"):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)


@pytest.mark.database
def test_second_terms_with_a_version_are_refused() -> None:
    first = LicenseTerms.objects.filter(version=1)[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        LicenseTerms.objects.create(tier=first.tier, version=1, name="x", text="x")


@pytest.mark.parametrize(
    "wrong",
    [
        {"permission": "allowed", "clause": ""},
        {"permission": "allowed", "clause": "Something else."},
        {"permission": "allowed", "clause": "use it at home", "quantity": 5},
        {"permission": "up_to", "clause": "use it at home"},
        {"permission": "up_to", "clause": "use it at home", "quantity": 5},
    ],
)
def test_permission_that_the_text_does_not_give_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        publish("personal", permissions={"personal": wrong})
    assert LicenseTerms.objects.filter(tier__slug="personal").count() == 1


def test_licence_without_terms_cannot_be_made_active() -> None:
    actor, tier = UserFactory(is_staff=True), LicenseTier(slug="team", name="Team", summary="For teams.", is_active=True)
    with pytest.raises(InvalidInput):
        save_license_tier(tier=tier, changed=["slug"], actor=actor)
    tier.is_active = False
    save_license_tier(tier=tier, changed=["slug"], actor=actor)
    publish("team")
    tier.is_active = True
    save_license_tier(tier=tier, changed=["is_active"], actor=actor)


def test_page_of_terms_shows_the_text_whose_hash_the_certificate_names(client: Client, bearer_client: Callable[..., APIClient]) -> None:
    publish("personal", "Über <b>& co.\n" + TEXT)
    order = bought(on_sale())
    publish("personal", "Stricter.", {})
    named = bearer_client(order.buyer).get(f"/api/v1/library/{order.listing.slug}/certificate").json()["certificate"]["license"]
    address = reverse("license-terms", args=["personal", named["termsVersion"]])
    page = BeautifulSoup(client.get(address).content, "html.parser")
    assert page.pre is not None
    assert page.find("code", string=named["termsSha256"]) is not None
    for text in (page.pre.get_text().encode(), client.get(f"{address}.txt").content):
        assert hashlib.sha256(text).hexdigest() == named["termsSha256"]
    assert client.get(reverse("license-terms", args=["personal", 10**12])).status_code == 404


def test_page_answers_with_the_clause_and_the_price(client: Client) -> None:
    listing = on_sale()
    address = reverse("asset-rights-page", args=[listing.slug])
    page = client.get(reverse("asset-page", args=[listing.slug]))
    assert BeautifulSoup(page.content, "html.parser").find("form", action=address) is not None
    page = client.get(address, {"use": "print_run", "quantity": "5000", "currency": "INR"})
    said = " ".join(BeautifulSoup(page.content, "html.parser").get_text(" ").split())
    assert "With the Commercial licence, for ₹998.00" in said
    assert "up to 10,000 copies of each product" in said
    assert b"errorlist" in client.get(address, {"use": "print_run", "quantity": "0"}).content


def test_page_tells_owners_that_they_may_unless_the_licence_is_suspended(client: Client) -> None:
    order = bought(on_sale())
    client.force_login(order.buyer)
    address = reverse("asset-rights-page", args=[order.listing.slug])
    assert b"Your Personal licence permits it" in client.get(address, {"use": "personal"}).content
    suspend_licences(order_ids=[order.pk], reason="test")
    Listing.objects.update(status="Draft")
    assert b"A licence of yours is suspended, and no other permits it." in client.get(address, {"use": "personal"}).content
