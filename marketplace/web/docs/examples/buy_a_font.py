"""Buys a font as an agent would: under a budget, with the right licence, downloaded and verified.

pip install mcp
MARKETPLACE_URL=https://… MARKETPLACE_TOKEN=cam_mcp_… python buy_a_font.py --budget 2500 --licence commercial
"""

import argparse
import asyncio
import hashlib
import io
import os
import uuid
import zipfile
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of a tool; the text of a refusal says what to do next."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise SystemExit(f"{tool}: {getattr(result.content[0], 'text', '')}")
    return result.structured_content or {}


async def choose(client: Client, budget: float, licence: str) -> tuple[dict[str, Any], float]:
    """Return the most popular font whose licence fits, for at most the budget, that is not owned yet."""
    owned = {item["assetId"] for item in (await call(client, "list_library", limit=100))["items"]}
    page = await call(client, "list_assets", category="fonts", license=licence, currency="INR", maxPrice=budget, tier="free")
    for item in page["items"]:
        font = await call(client, "get_asset", assetId=item["id"])
        # The price in the list is that of the first licence; each licence has its own.
        price = next((offer["priceINR"] for offer in font["licenses"] if offer["slug"] == licence), None)
        if font["id"] not in owned and price is not None and price <= budget:
            return font, price
    raise SystemExit(f"No font with the licence {licence} for at most {budget:.2f} INR.")


async def buy(client: Client, font: dict[str, Any], licence: str) -> None:
    """Buy at the quoted price."""
    quote = await call(client, "quote_purchase", assetId=font["id"], licenseSlug=licence, currency="INR")
    print(f"Quoted: {quote['price']:.2f} INR until {quote['expiresAt']}")
    # To repeat this call after a lost response, send the same key and quote: it is one purchase.
    order = await call(client, "buy_asset", assetId=font["id"], quoteId=quote["quoteId"], idempotencyKey=str(uuid.uuid4()))
    print(f"Bought: order {order['orderId']}, {order['newBalanceINR']:.2f} INR left")


async def fetch(client: Client, http: httpx2.AsyncClient, font: dict[str, Any]) -> bytes:
    """Return the package, once its checksum and that of the file in it are the promised ones."""
    link = await call(client, "get_download_link", assetId=font["id"])
    package = (await http.get(link["downloadUrl"])).raise_for_status().content
    if hashlib.sha256(package).hexdigest() != link["checksum"]:
        raise SystemExit("The package is not what was promised.")
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        sums = {hashlib.sha256(archive.read(name)).hexdigest(): name for name in archive.namelist()}
    if font["file"]["checksum"] not in sums:
        raise SystemExit("The file in the package is not the one that was reviewed.")
    print(f"Verified: {sums[font['file']['checksum']]} in {link['fileName']}, SHA-256 {font['file']['checksum']}")
    return package


async def main(budget: float, licence: str, *, agreed: bool) -> None:
    """Choose, buy and fetch a font."""
    address, token = os.environ["MARKETPLACE_URL"].rstrip("/"), os.environ["MARKETPLACE_TOKEN"]
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as tools,
        Client(streamable_http_client(f"{address}/mcp", http_client=tools)) as client,
        # The link needs no credential, and gets none.
        httpx2.AsyncClient(timeout=60) as http,
    ):
        font, price = await choose(client, budget, licence)
        print(f"Found: {font['title']} by {font['vendor']['storeName']}, {licence} licence, {price:.2f} INR")
        if not agreed and (await asyncio.to_thread(input, "Buy it? [y/N] ")).strip().lower() != "y":
            raise SystemExit("Nothing was bought.")
        await buy(client, font, licence)
        package = await fetch(client, http, font)
        print(f"Fetched: {len(package)} bytes")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--budget", type=float, default=2500)
    options.add_argument("--licence", default="commercial")
    options.add_argument("--yes", action="store_true", help="buy without asking")
    given = options.parse_args()
    asyncio.run(main(given.budget, given.licence, agreed=given.yes))
