// Browse, search, buy, download and prove the licence, by the types that openapi-typescript makes of the document.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const [, , baseUrl, key, assetId] = process.argv;
assert(baseUrl && key && assetId, "usage: journey.js <base URL> <API key> <asset id>");

const api = createClient<paths>({ baseUrl, headers: { "X-Api-Key": key } });
const open = createClient<paths>({ baseUrl });
const path = { asset_id: assetId };

const page = await open.GET("/api/v1/assets", { params: { query: { category: "fonts", sort: "price_asc", limit: 5 } } });
assert.equal(page.data?.items[0]?.id, assetId);
const found = await open.GET("/api/v1/assets/search", { params: { query: { q: "aurora" } } });
assert.equal(found.data?.results[0]?.id, assetId);
const asset = await open.GET("/api/v1/assets/{asset_id}", { params: { path } });
assert.equal(asset.data?.title, "Aurora Sans");

// A refusal is typed as well: the problem document.
const refused = await open.GET("/api/v1/library");
assert.equal(refused.error?.code, "not_authenticated");

const sale = await api.POST("/api/v1/wallet/spend", {
  params: { header: { "Idempotency-Key": "typescript-1" } },
  body: { assetId, currency: "INR" },
});
assert.equal(sale.data?.success, true);
// An app that sends `onLimit` may get an approval instead.
assert("orderId" in sale.data);
const library = await api.GET("/api/v1/library");
assert.equal(library.data?.ownedCount, 1);
assert.equal(library.data.items[0]?.orderId, sale.data.orderId);

const link = await api.POST("/api/v1/library/download/{asset_id}", { params: { path } });
assert(link.data);
const file = Buffer.from(await (await fetch(link.data.downloadUrl)).arrayBuffer());
assert.equal(file.length, link.data.size);
assert.equal(createHash("sha256").update(file).digest("hex"), link.data.checksum);

const certificate = await api.GET("/api/v1/library/{asset_id}/certificate", { params: { path } });
assert(certificate.data);
const verdict = await open.POST("/api/v1/certificates/verify", { body: { jws: certificate.data.jws } });
assert.equal(verdict.data?.valid, true);
console.log("bought", sale.data.orderId);
