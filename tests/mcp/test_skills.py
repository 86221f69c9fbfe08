"""The extension for skills: what is listed, what is read, and for whom."""

import hashlib
import json

import pytest

from catalog.models import Category
from marketplace.core.scopes import APP_SCOPES, Scope
from tests.agent_skills import free_skill, skill_archive, skill_on_sale
from tests.shop import bought, funded
from wallet.services.refunds import refund_order

from .speaking import WITH_HANDSHAKE, Speaker, mcp_token

pytestmark = pytest.mark.django_db
URI = "skill://kerning/kerning-helper/SKILL.md"
UNKNOWN = ("skill://", "skill://kerning", "skill://kerning/other/SKILL.md", URI + "x", URI.replace("SKILL", "%53KILL"), "skill://\0/a/b")
CONTENT = skill_archive({"scripts/a b.bin": b"\xff\x00"})


def refusal(speaker: Speaker, method: str, uri: str) -> int:
    return int(json.loads(speaker.send(method, {"uri": uri}).content)["error"]["code"])


@pytest.mark.slow
def test_owned_skill_is_listed_and_each_of_its_files_has_the_digest_it_names_until_it_is_refunded() -> None:
    order = bought(skill_on_sale(CONTENT, slug="kerning"), funded(inr=1_000_000))
    speaker = Speaker(mcp_token(order.buyer)[1])
    (skill,) = speaker.result("skills/list")["skills"]
    assert (skill["uri"], skill["frontmatter"]) == (URI, {"name": "kerning-helper", "description": "Finds bad pairs."})
    assert speaker.result("skills/get", {"uri": URI})["skill"] == skill
    for file in skill["resources"]:
        (found,) = speaker.result("resources/read", {"uri": file["uri"]})["contents"]
        content = found["text"].encode() if "text" in found else b"\xff\x00"
        assert (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)) == (file["digest"], file["size"])
    listed = speaker.result("resources/list")["resources"]
    assert listed[0] == {"uri": URI, "name": "kerning-helper", "description": "Finds bad pairs.", "mimeType": "text/markdown"}
    assert all(other["uri"].startswith("asset://") for other in listed[1:])
    assert Speaker(mcp_token()[1]).result("resources/list")["resources"] == []
    for uri in UNKNOWN:
        assert refusal(speaker, "resources/read", uri) == refusal(speaker, "skills/get", uri) == -32602
    refund_order(order=order, reason="test", actor=None)
    assert speaker.result("skills/list")["skills"] == []
    assert refusal(speaker, "resources/read", URI) == refusal(speaker, "skills/get", URI) == -32602


def test_token_that_may_not_download_has_no_owned_skills() -> None:
    order = bought(skill_on_sale(slug="kerning"), funded(inr=1_000_000))
    for scope in (Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD, Scope.CATALOG_READ):
        speaker = Speaker(mcp_token(order.buyer, frozenset({scope}))[1])
        assert speaker.result("skills/list")["skills"] == []
        assert refusal(speaker, "resources/read", URI) == -32602


def test_free_skill_is_for_every_token_that_may_read_the_catalog() -> None:
    free_skill(slug="kerning", category=Category.objects.get(slug="ai-skills"))
    for scopes, count in ((APP_SCOPES, 1), (frozenset({Scope.LIBRARY_READ}), 0)):
        speaker = Speaker(mcp_token(None, scopes)[1])
        assert len(speaker.result("skills/list")["skills"]) == count


@pytest.mark.slow
def test_earlier_revisions_do_not_have_the_extension() -> None:
    free_skill(category=Category.objects.get(slug="ai-skills"))
    speaker = Speaker(mcp_token()[1], WITH_HANDSHAKE[0])
    assert speaker.result("resources/list")["resources"] == []
    assert "error" in json.loads(speaker.send("skills/list").content)
