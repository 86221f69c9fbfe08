"""Browse, search, buy, download and prove the licence, with the client that openapi-python-client makes of the document."""

import hashlib
import sys
import urllib.request

from marketplace_client import AuthenticatedClient, Client
from marketplace_client.api.catalog import get_asset, list_assets, search_assets
from marketplace_client.api.certificates import verify_certificate
from marketplace_client.api.library import create_download_link, get_certificate, list_library
from marketplace_client.api.wallet import buy_asset
from marketplace_client.models import (
    AssetDetail,
    AssetPage,
    CertificateToCheckRequest,
    CertificateVerdict,
    DownloadLinkResponse,
    LibraryPage,
    ListAssetsSort,
    Problem,
    SearchResults,
    SignedCertificate,
    SpendBodyRequest,
    SpendResponse,
    WalletCurrencyEnum,
)


def main(base_url: str, key: str, asset_id: str) -> None:
    nobody = Client(base_url=base_url)
    buyer = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-Api-Key")

    page = list_assets.sync(client=nobody, category="fonts", sort=ListAssetsSort.PRICE_ASC, limit=5)
    assert isinstance(page, AssetPage)
    assert page.items[0].id == asset_id
    found = search_assets.sync(client=nobody, q="aurora")
    assert isinstance(found, SearchResults)
    assert found.results[0].id == asset_id
    asset = get_asset.sync(asset_id, client=nobody)
    assert isinstance(asset, AssetDetail)
    assert asset.title == "Aurora Sans"

    body = SpendBodyRequest(asset_id=asset_id, currency=WalletCurrencyEnum.INR)
    sale = buy_asset.sync(client=buyer, body=body, idempotency_key="python-1")
    assert isinstance(sale, SpendResponse)
    assert sale.success
    again = buy_asset.sync(client=buyer, body=body)
    # A refusal is typed as well: the problem document.
    assert isinstance(again, Problem)
    assert again.code == "already_owned"
    library = list_library.sync(client=buyer)
    assert isinstance(library, LibraryPage)
    assert (library.owned_count, library.items[0].order_id) == (1, sale.order_id)

    link = create_download_link.sync(asset_id, client=buyer)
    assert isinstance(link, DownloadLinkResponse)
    with urllib.request.urlopen(link.download_url, timeout=30) as response:  # noqa: S310 - the test's own server
        assert hashlib.sha256(response.read()).hexdigest() == link.checksum

    certificate = get_certificate.sync(asset_id, client=buyer)
    assert isinstance(certificate, SignedCertificate)
    verdict = verify_certificate.sync(client=nobody, body=CertificateToCheckRequest(jws=certificate.jws))
    assert isinstance(verdict, CertificateVerdict)
    assert verdict.valid


if __name__ == "__main__":
    main(*sys.argv[1:])
