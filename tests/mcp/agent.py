"""An agent without a model: it does what a structured request asks for with nothing but what a server lists.

It knows no names of tools and no addresses. It finds each tool by the arguments that its schema takes and the fields that its result has, sends only
what the schema allows, and opens only addresses that a result contains.
"""

import asyncio
import hashlib
import io
import json
import uuid
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from jwcrypto.jwk import JWKSet
from jwcrypto.jws import JWS
from mcp import Client
from mcp_types import ReadResourceResult, Request, ResourceLink, TextContent, TextResourceContents, Tool
from pydantic import BaseModel

SECONDS = 60
CURRENCY = "INR"
Decides = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class Wish:
    """What somebody asks the agent for.

    Args:
        words: What it is.
        kind: A word of the category's name.
        use: What it is for; one of the uses that the server lists.
        budget: The most that it may cost.
        quantity: How much of the use.
        without_ai: Whether the vendor must say that no part was made with AI.
        as_skill: Whether it is installed as a skill of the agent; otherwise as a file.
    """

    words: str
    kind: str
    use: str
    budget: float
    quantity: int = 1
    without_ai: bool = False
    as_skill: bool = False


@dataclass(frozen=True)
class Outcome:
    """What the agent bought and installed, or why it did not."""

    slug: str = ""
    license_slug: str = ""
    paid: float = 0
    installed: tuple[str, ...] = ()
    reason: str = ""


class Stopped(Exception):
    """The wish cannot be fulfilled; the text says why."""


class Skill(BaseModel):
    """An entry of the extension for skills."""

    uri: str
    frontmatter: dict[str, Any]
    resources: list[dict[str, Any]]


class SkillList(BaseModel):
    """The skills that the server lists."""

    skills: list[Skill]


@dataclass(frozen=True)
class Offer:
    """A licence that permits the use, and what it costs."""

    asset: dict[str, Any]
    license_slug: str
    price: float


def fields_of(schema: dict[str, Any] | None) -> set[str]:
    """Return the fields that an object has, in any of its forms."""
    schema = schema or {}
    return set(schema.get("properties", {})).union(*(fields_of(form) for form in schema.get("anyOf", ())))


class Agent:
    """Fulfils wishes over a connection; `owner` opens an address at which its user decides."""

    def __init__(self, client: Client, folder: Path, owner: Decides) -> None:
        self.client, self.folder, self.owner = client, folder, owner
        self.tools: list[Tool] = []

    async def fulfil(self, wish: Wish) -> Outcome:
        """Find, check, buy, install and verify."""
        self.tools = (await self.client.list_tools()).tools
        try:
            offers = [offer async for offer in self._offers(wish)]
            cheapest = min(offers, key=lambda offer: offer.price, default=None)
            return Outcome(reason="nothing fits") if cheapest is None else await self._buy_and_install(wish, cheapest)
        except Stopped as stop:
            return Outcome(reason=str(stop))

    def tool(self, *takes: str, gives: tuple[str, ...] = ()) -> Tool:
        """Return the tool that takes these arguments and gives these fields: of several, the one that takes the fewest others."""
        found = [tool for tool in self.tools if set(takes) <= fields_of(tool.input_schema) and set(gives) <= fields_of(tool.output_schema)]
        if not found:
            raise Stopped(f"no tool takes {takes} and gives {gives}")
        return min(found, key=lambda tool: len(fields_of(tool.input_schema)))

    async def call(self, tool: Tool, **arguments: Any) -> tuple[dict[str, Any], list[ResourceLink]]:
        """Return the result of a tool and the resources that it links to; the code of a refusal stops the agent."""
        known = tool.input_schema["properties"]
        for name, value in arguments.items():
            if value not in known[name].get("enum", [value]):
                raise Stopped(f"{tool.name} has no {name} {value}")
        result = await self.client.call_tool(tool.name, arguments)
        if result.is_error:
            problem = result.content[1]
            assert isinstance(problem, TextContent)
            raise Stopped(json.loads(problem.text)["code"])
        links = [part for part in result.content if isinstance(part, ResourceLink)]
        return result.structured_content or {}, links

    async def _offers(self, wish: Wish) -> AsyncIterator[Offer]:
        categories, _ = await self.call(self.tool(gives=("items", "total")))
        category = next(each["slug"] for each in categories["items"] if wish.kind in each["name"].lower())
        filters: dict[str, Any] = {"category": category, "currency": CURRENCY, "maxPrice": wish.budget}
        if wish.without_ai:
            filters["aiOrigin"] = "none"
        found, _ = await self.call(self.tool("q", *filters, gives=("results",)), q=wish.words, **filters)
        rights_tool = self.tool("assetId", "use", "quantity", gives=("decision", "licenses"))
        for asset in found["results"]:
            rights, _ = await self.call(rights_tool, assetId=asset["id"], use=wish.use, quantity=wish.quantity)
            if rights["decision"] == "buy":
                licence = next(each for each in rights["licenses"] if each["slug"] == rights["licenseSlug"])
                price = licence[f"price{CURRENCY}"]
                if price is not None and price <= wish.budget:
                    yield Offer(asset, licence["slug"], price)

    async def _buy_and_install(self, wish: Wish, offer: Offer) -> Outcome:
        wanted = {"assetId": offer.asset["id"], "licenseSlug": offer.license_slug, "currency": CURRENCY}
        quote, _ = await self.call(self.tool(*wanted, gives=("quoteId", "price", "withinLimits")), **wanted)
        if quote["price"] > wish.budget:
            raise Stopped("it costs more now")
        wanted |= {"quoteId": quote["quoteId"], "idempotencyKey": str(uuid.uuid4())}
        if not quote["withinLimits"]:
            wanted |= {"onLimit": "ask", "reason": f"{wish.words} for {wish.use}"}
        buying = self.tool(*wanted, gives=("orderId", "debited", "approvalUrl"))
        order, links = await self.call(buying, **wanted)
        if not order["success"]:
            await self.owner(order["approvalUrl"])
            order, links = await self.call(buying, **wanted)
        files = await (self._install_skill(offer) if wish.as_skill else self._install_file(offer))
        await self._verify_certificate(links, offer, order["orderId"])
        return Outcome(offer.asset["slug"], offer.license_slug, order["debited"], tuple(files))

    async def _install_file(self, offer: Offer) -> list[str]:
        """Unpack the package, once its checksum and that of the reviewed file in it are right."""
        detail, _ = await self.call(self.tool("assetId", gives=("file", "description")), assetId=offer.asset["id"])
        link, _ = await self.call(self.tool("assetId", gives=("downloadUrl", "checksum")), assetId=offer.asset["id"])
        content = await fetch(link["downloadUrl"])
        if digest(content) != link["checksum"]:
            raise Stopped("the package is another one")
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            files = {name: package.read(name) for name in package.namelist()}
        if detail["file"]["checksum"] not in map(digest, files.values()):
            raise Stopped("the file is not the reviewed one")
        return self._write(offer.asset["slug"], files)

    async def _install_skill(self, offer: Offer) -> list[str]:
        listed = await self.client.session.send_request(Request[dict[str, Any], str](method="skills/list", params={}), SkillList)
        skill = next((each for each in listed.skills if offer.asset["slug"] in each.uri.split("/")), None)
        if skill is None:
            raise Stopped("the skill is not listed")
        files = {}
        for file in skill.resources:
            content = text_of(await self.client.read_resource(file["uri"])).encode()
            if f"sha256:{digest(content)}" != file["digest"]:
                raise Stopped("a file of the skill was altered")
            files[file["uri"].removeprefix(skill.uri.removesuffix("SKILL.md"))] = content
        return self._write(skill.frontmatter["name"], files)

    async def _verify_certificate(self, links: list[ResourceLink], offer: Offer, order_id: str) -> None:
        """Check the signature, that the certificate is of this purchase, and that it is valid."""
        (link,) = links
        certificate = json.loads(text_of(await self.client.read_resource(str(link.uri))))
        keys = JWKSet.from_json((await fetch(certificate["keysUrl"])).decode())
        token = JWS()
        token.deserialize(certificate["jws"])
        token.verify(keys.get_key(token.jose_header["kid"]))
        claims = json.loads(token.payload)
        if (claims["asset"]["id"], claims["license"]["slug"], claims["orderId"]) != (offer.asset["id"], offer.license_slug, order_id):
            raise Stopped("the certificate is of something else")
        if json.loads(await fetch(certificate["statusUrl"]))["status"] != "valid":
            raise Stopped("the licence is not valid")

    def _write(self, name: str, files: dict[str, bytes]) -> list[str]:
        for path, content in files.items():
            target = self.folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return sorted(files)


def text_of(result: ReadResourceResult) -> str:
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    return content.text


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def fetch(address: str) -> bytes:
    """Return what is at an address, without a credential."""
    response = await asyncio.to_thread(requests.get, address, timeout=SECONDS)
    response.raise_for_status()
    return response.content
