"""Skills that agents install: free ones in the index of the site, owned ones behind a link of a quarter of an hour."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Category, FileFacts, Listing
from library.agent_skills import free_skills, skills_by_name, token_for
from library.models import Download, Licence
from marketplace.accounts.models import Tier, User
from marketplace.accounts.services import end_sessions
from marketplace.storage import default_storage
from tests.agent_skills import free_skill, skill_archive, skill_on_sale
from tests.shop import bought, funded
from wallet.models import Order
from wallet.services.refunds import refund_order

pytestmark = pytest.mark.django_db
FREE = "/.well-known/agent-skills/index.json"


def owned_path(user: User) -> str:
    return f"/library/skills/{token_for(user)}{FREE}"


def names(client: Client, path: str) -> list[str]:
    return [entry["name"] for entry in client.get(path).json()["skills"]]


def fetched(client: Client, path: str) -> Any:
    """Return the response of the archive of the first skill in an index."""
    (entry, *_) = client.get(path).json()["skills"]
    return client.get(path.removesuffix("index.json") + entry["url"])


@pytest.fixture
def ai_skills() -> Category:
    return Category.objects.get(slug="ai-skills")


@pytest.fixture
def order() -> Order:
    return bought(skill_on_sale(slug="kerning"), funded(inr=1_000_000))


@pytest.mark.slow
def test_skill_whose_name_and_slug_are_both_names_of_others_is_in_the_index_too(client: Client, ai_skills: Category) -> None:
    for slug, name in (("a", "kerning"), ("b", "spacing"), ("spacing", "kerning")):
        free_skill(skill_archive(front=f"name: {name}\ndescription: Helps.\n"), category=ai_skills, slug=slug)
    third = Listing.objects.get(slug="spacing")
    assert names(client, FREE) == ["kerning", "spacing", str(third.pk)]


def test_skill_that_calls_itself_by_the_id_of_another_does_not_end_the_index(client: Client, ai_skills: Category) -> None:
    for slug, name in (("a", "kerning"), ("b", "spacing"), ("c", "later"), ("spacing", "kerning")):
        free_skill(skill_archive(front=f"name: {name}\ndescription: Helps.\n"), category=ai_skills, slug=slug)
    skills = free_skills()
    skills[2].contents["frontmatter"]["name"] = str(skills[3].listing.pk)
    assert skills_by_name(skills)[str(skills[3].listing.pk)] == skills[3]


def test_free_skill_is_in_the_index_with_the_bytes_that_its_digest_names(client: Client, ai_skills: Category) -> None:
    listing = free_skill(category=ai_skills)
    response = client.get(FREE)
    assert response["Content-Type"] == "application/json"
    assert response.json()["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    (entry,) = response.json()["skills"]
    assert (entry["name"], entry["type"], entry["description"]) == ("kerning-helper", "archive", "Finds bad pairs.")
    archive = fetched(client, FREE)
    assert archive["Content-Type"] == "application/zip"
    file = listing.deliverables.get()
    assert f"sha256:{hashlib.sha256(archive.content).hexdigest()}" == entry["digest"] == f"sha256:{file.sha256}"


@pytest.mark.parametrize(
    "fields",
    [
        {"base_price_minor": 1000, "price_inr_minor": 100},
        {"base_price_minor": 1000, "price_inr_minor": 100, "discount_bp": 10_000},
        {"tier_requirement": Tier.PRO},
        {"status": "Draft"},
        {},
    ],
    ids=["sold", "free for a while", "for some accounts", "delisted", "harmful"],
)
def test_skill_that_is_not_free_for_everyone_or_is_harmful_is_not_in_the_index(
    client: Client, ai_skills: Category, fields: dict[str, Any]
) -> None:
    listing = free_skill(category=ai_skills)
    if fields:
        Listing.objects.filter(pk=listing.pk).update(**fields)
    else:
        listing.deliverables.update(blocked_at=timezone.now())
    assert names(client, FREE) == []
    assert client.get(f"/.well-known/agent-skills/{listing.slug}.zip").status_code == 404


def test_skills_of_one_name_are_listed_under_names_of_their_own(client: Client, ai_skills: Category) -> None:
    for slug, body in (("first", "one"), ("second", "two")):
        free_skill(skill_archive(body=body), category=ai_skills, slug=slug)
    assert sorted(names(client, FREE)) in (["first", "kerning-helper"], ["kerning-helper", "second"])


def test_owned_skill_is_read_with_the_link_alone_and_recorded_as_a_download(client: Client, order: Order) -> None:
    path = owned_path(order.buyer)
    assert client.get(path)["Cache-Control"] == "private, no-store"
    assert names(client, path) == ["kerning-helper"]
    assert fetched(client, path).content == skill_archive()
    assert Download.objects.filter(link__licence__order_id=order.pk).count() == 1


@pytest.mark.parametrize(
    "end",
    [
        lambda order: refund_order(order=order, reason="test", actor=None),
        lambda _order: Licence.objects.update(suspended_at=timezone.now()),
        lambda order: order.listing.deliverables.update(blocked_at=timezone.now()),
    ],
    ids=["refunded", "suspended", "found harmful"],
)
def test_skill_without_a_valid_licence_or_file_is_neither_listed_nor_served(
    client: Client, order: Order, end: Callable[[Order], object]
) -> None:
    path, stranger = owned_path(order.buyer), owned_path(funded())
    assert names(client, path) == ["kerning-helper"]
    end(order)
    for address in (path, stranger):
        assert names(client, address) == []
        assert client.get(address.replace("index.json", "kerning.zip")).status_code == 404
    assert client.get("/.well-known/agent-skills/kerning.zip").status_code == 404


def test_owned_skill_is_served_after_its_listing_is_unpublished(client: Client, order: Order) -> None:
    Listing.objects.update(status="Draft")
    assert fetched(client, owned_path(order.buyer)).status_code == 200


def test_skill_link_expires_after_15_minutes(client: Client, order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    path = owned_path(order.buyer)
    later = (timezone.now() + timedelta(seconds=15 * 60 + 2)).timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    assert client.get(path).status_code == 404
    assert client.get(path.replace("index.json", "kerning.zip")).status_code == 404


@pytest.mark.parametrize("change", ["password", "sessions", "account"])
def test_link_ends_with_the_sessions_or_the_account_of_its_user(client: Client, order: Order, change: str) -> None:
    path = owned_path(order.buyer)
    assert names(client, path) == ["kerning-helper"]
    user = User.objects.get(pk=order.buyer.pk)
    if change == "password":
        user.set_password("another long phrase")
    user.is_active = change != "account"
    user.save()
    if change == "sessions":
        end_sessions(user=user, actor=user)
    assert client.get(path).status_code == 404
    assert client.get(path.replace("index.json", "kerning.zip")).status_code == 404


def test_altered_link_is_not_found(client: Client, order: Order) -> None:
    token = token_for(order.buyer)
    for altered in (token[1:], token + "x", token * 80, token.split(".")[0]):
        assert client.get(f"/library/skills/{altered}{FREE}").status_code == 404


@pytest.mark.parametrize("content", [skill_archive(body="# Evil"), None], ids=["other", "missing"])
def test_bytes_that_are_not_those_that_were_approved_are_not_served(order: Order, content: bytes | None) -> None:
    file = order.listing.approved_deliverable
    assert file is not None
    default_storage.delete(file.object_key)
    if content is not None:
        default_storage.save_bytes(file.object_key, content)
    response = fetched(Client(raise_request_exception=False), owned_path(order.buyer))
    assert response.status_code == 503
    assert not Download.objects.exists()


def test_skill_without_a_manifest_is_only_a_download(client: Client, order: Order) -> None:
    assert len(names(client, owned_path(order.buyer))) == 1
    FileFacts.objects.all().delete()
    assert names(client, owned_path(order.buyer)) == []


def test_owner_gets_the_command_without_telemetry_from_the_library_and_a_stranger_does_not(client: Client, order: Order) -> None:
    client.force_login(order.buyer)
    assert client.get("/dashboard/library/kerning/agent").status_code == 405
    page = client.post("/dashboard/library/kerning/agent")
    # With telemetry, the client would send the address, which is a credential, to others; nor may a cache keep it.
    assert "<code>DISABLE_TELEMETRY=1 npx skills add " in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    client.force_login(funded())
    assert client.post("/dashboard/library/kerning/agent").status_code == 404
