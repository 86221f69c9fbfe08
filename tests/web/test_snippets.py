"""The code that the console and the API reference show is run, as it stands: by a shell, by Python, by Node."""

from pathlib import Path
from typing import Any

import pytest

from catalog.models import Listing
from developers.services.credentials import issue_api_key
from marketplace.web.docs.snippets import ApiCall, Credential, snippets
from tests.contract.scenes import for_sale
from tests.developers.cases import token_of
from tests.factories import AppFactory
from tests.vendors.cases import make_vendor

from .test_docs_run import printed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]
# Everything that one of the languages could take for its own.
NASTY = 'it\'s "$HOME" `id` ${x} \\n %41 é 🎉 \\'
LANGUAGES = {"curl": "bash", "Python": "python", "JavaScript": "javascript"}


def run(call: ApiCall, language: str, folder: Path, **variables: str) -> str:
    source = {name: code for name, _, code in snippets(call)}[language]
    return printed(source, LANGUAGES[language], folder, **variables)


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_snippets_of_the_api_reference_run(live_server: Any, tmp_path: Path, language: str) -> None:
    asset = Listing.objects.get(pk=for_sale().names["id"])
    app = AppFactory()
    key = issue_api_key(app=app, name="laptop", actor=app.developer)[1]
    vendor = make_vendor()
    token = token_of("personal", vendor.user)[1]
    api = f"{live_server.url}/api/v1"

    # Without a credential, as JSON.
    assert asset.title in run(ApiCall("GET", f"{api}/assets/{asset.slug}"), language, tmp_path)
    # With a key, and a header of the caller's own; nothing that stands in a body is taken for the language's.
    quote = ApiCall("POST", f"{api}/wallet/quote", Credential.KEY, {"X-Request-Id": "it-is-me-123"}, {"assetId": NASTY[:40]})
    refused = run(quote, language, tmp_path, KEY=key)
    assert "it-is-me-123" in refused
    # With a token: what was sent is what arrived.
    lines = f"{NASTY}\n$(id >&2) `id`\t\u2028</script>\nEOF\n'; id; '"
    listing = {"title": NASTY, "slug": "nasty", "shortDescription": "x", "categorySlug": "fonts", "basePrice": 19.5, "description": lines}
    run(ApiCall("POST", f"{api}/vendor/assets", Credential.TOKEN, body=listing), language, tmp_path, TOKEN=token)
    made = Listing.objects.get(slug="nasty")
    assert (made.title, made.description) == (NASTY, lines)
    # A file.
    (tmp_path / "file.zip").write_bytes(b"no archive")
    upload = ApiCall("POST", f"{api}/vendor/assets/{made.pk}/file", Credential.TOKEN, upload=True)
    assert "unsupported_type" in run(upload, language, tmp_path, TOKEN=token)
    # A response that is not JSON is kept as a file.
    run(ApiCall("GET", f"{live_server.url}/robots.txt", response_type="text/plain"), language, tmp_path)
    assert (tmp_path / "response.txt").read_bytes().startswith(b"User-agent")
