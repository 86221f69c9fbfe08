"""The buyer's library: what is owned, its versions, downloads, certificates."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render

from catalog.selectors.cards import cards_of
from catalog.selectors.listings import version_of_file
from library import bounds
from library.agent_skills import owned_skills
from library.certificates import certificate_claims, certificate_page_url, certificate_pdf, signed_certificate
from library.errors import NotOwned
from library.models import Licence
from library.selectors import (
    current_file,
    current_licences_of,
    library_page,
    licence_to_download,
    licences_for,
    owned_licence,
    owned_versions,
    version_of,
)
from library.services.claims import claim_licence, claimable_licence
from library.services.links import issue_link, url_of
from library.services.status_lists import status_list_position
from library.verifiable_credentials import signed_credential
from marketplace.accounts.pages import SignedInRequest, signed_in_page
from marketplace.core.errors import NotFound, Problem
from marketplace.storage.responses import attachment

from ..paging import cursor_context, cursor_of

ROWS = 25
VERSIONS = 100


@signed_in_page("GET")
def library(request: SignedInRequest) -> HttpResponseBase:
    """List what the user owns, newest first."""
    owned = current_licences_of(request.user)
    with cursor_of(request) as cursor:
        page = library_page(owned, limit=ROWS, cursor=cursor)
    pictures = {card["listing_id"]: card["picture"] for card in cards_of({licence.listing_id for licence in page.rows})}
    context = {
        "count": owned.count(),
        "rows": [(licence, version_of(licence), pictures.get(licence.listing_id)) for licence in page.rows],
        **cursor_context(request, page),
    }
    return render(request, "buyer/library.html", context)


@signed_in_page("GET")
def item(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Show what is owned of a listing: versions to download, the certificate, the order."""
    with _not_owned_as_404():
        licence = owned_licence(request.user, slug)
    # Another licence may cover a file although all that this one covers are blocked.
    current = current_file(licence) or owned_versions(licence).first()
    context = {
        "licence": licence,
        "listing": licence.listing,
        "on_sale": bool(cards_of([licence.listing_id])),
        "current": current,
        "is_installable": bool(current and current.technical.get("container") == "skill" and owned_skills(request.user, slug)),
        "versions": [(file, version_of_file(file, licence.listing)) for file in owned_versions(licence)[:VERSIONS]],
        "certificate": certificate_claims(licence),
        "others": [each for each in licences_for(request.user, licence.listing) if each.pk != licence.pk],
        "verify_url": certificate_page_url(str(licence.pk)),
    }
    return render(request, "buyer/library_item.html", context)


@signed_in_page("POST")
def download(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Create a download link and show it; it works without the session, for a while.

    It does not redirect to the link, which may lead to the file store: the content security policy lets forms lead to our origin only.
    """
    with _not_owned_as_404():
        version = _parameter(request.POST.get("version"))
        licence = licence_to_download(request.user, slug, version=version)
        try:
            link = issue_link(licence=licence, version=version)
        except (NotFound, NotOwned):
            raise
        except Problem as problem:
            messages.error(request, problem.message)
            return redirect("library-item", slug=slug)
    minutes = bounds.DOWNLOAD_LINK_SECONDS // 60
    return render(request, "buyer/download.html", {"link": link, "url": url_of(link), "listing": licence.listing, "minutes": minutes})


@signed_in_page("GET", "POST")
def claim(request: SignedInRequest, secret: str) -> HttpResponseBase:
    """Show the licence that a claim link belongs to; a POST puts it in the library."""
    try:
        if request.method == "POST":
            slug = claim_licence(secret=secret, actor=request.user).listing.slug
            messages.success(request, "The licence is in your library.")
            return redirect("library-item", slug=slug)
        licence = claimable_licence(secret=secret, claimant=request.user)
        if licence.holder_id == request.user.pk:
            return redirect("library-item", slug=licence.listing.slug)
    except NotFound:
        raise
    except Problem as problem:
        return render(request, "buyer/claim.html", {"refusal": problem}, status=problem.status)
    return render(request, "buyer/claim.html", {"licence": licence})


@signed_in_page("GET")
def certificate(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Return the licence certificate as a PDF."""
    licence = _licence(request, slug)
    pdf = certificate_pdf(certificate_claims(licence))
    return HttpResponse(pdf, content_type="application/pdf", headers=attachment(f"licence-{licence.listing.slug}.pdf"))


@signed_in_page("GET")
def signed(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Return the signed licence certificate as a JSON file, which others can verify."""
    licence = _licence(request, slug)
    return JsonResponse(signed_certificate(certificate_claims(licence)), headers=attachment(f"licence-{licence.listing.slug}.json"))


@signed_in_page("GET")
def credential(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """Return the licence certificate as a verifiable credential in a JSON file."""
    licence = _licence(request, slug)
    document = signed_credential(certificate_claims(licence), status_list_position(licence=licence))
    return JsonResponse(document, headers=attachment(f"licence-{licence.listing.slug}.credential.json"))


def _licence(request: SignedInRequest, slug: str) -> Licence:
    with _not_owned_as_404():
        return owned_licence(request.user, slug, license_slug=_parameter(request.GET.get("license")))


def _parameter(value: str | None) -> str | None:
    """Return the value of a parameter, None if it is empty; raise `NotFound` for a null character, which PostgreSQL refuses."""
    if value and "\0" in value:
        raise NotFound
    return value or None


@contextmanager
def _not_owned_as_404() -> Iterator[None]:
    """Turn `NotOwned` into a 404, as for a listing that does not exist."""
    try:
        yield
    except NotOwned as error:
        raise Http404 from error
