"""The page where anyone can verify a licence certificate, and the documents with which other programs verify a credential."""

import orjson
from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from developers.oauth.cors import allow_any_origin
from library.certificates import CertificateCheck, CertificateStatus, check_certificate, check_certificate_id
from library.proofs import did_document
from library.verifiable_credentials import check_credential
from library.verifiable_credentials import context as credential_context
from marketplace.core import bounds
from marketplace.core.errors import BodyTooLarge, NotFound

from ..shop.rate_limit import rate_limited

# A certificate has fewer than 3,000.
MAXIMUM_CHARS = 16_000
MAXIMUM_BYTES = 64 * bounds.KIB
_FOR_AN_HOUR = {"Cache-Control": "public, max-age=3600"}


class CertificateForm(forms.Form):
    """Asks for a certificate: its text, its file or its ID."""

    text = forms.CharField(
        label="Certificate",
        help_text="The whole text of a signed certificate or verifiable credential, or the ID that is printed on one.",
        max_length=MAXIMUM_CHARS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "autocomplete": "off"}),
    )
    file = forms.FileField(
        label="File",
        help_text="A signed certificate that was saved as .json or text.",
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ".json,.jws,.txt,application/json,text/plain"}),
    )

    def clean_file(self) -> str:
        """Return the text of the file, empty without one."""
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        content = file.read(MAXIMUM_BYTES) if file else b""
        if content.startswith(b"%PDF"):
            raise forms.ValidationError("A PDF carries no signature. Enter the ID that is printed on it instead.")
        return content.decode(errors="replace")

    def clean(self) -> dict[str, str]:
        """Refuse a form without a certificate; the file counts where both are given."""
        values: dict[str, str] = {**self.cleaned_data}
        if not self.errors and not (values["file"].strip() or values["text"]):
            raise forms.ValidationError("Enter a certificate, or choose its file.")
        return values

    def check(self) -> CertificateCheck:
        """Return whether the certificate is genuine and its licence still valid."""
        text = (self.cleaned_data["file"] or self.cleaned_data["text"]).strip()
        if text.startswith("{"):
            return _check_document(text)
        text = "".join(text.split())
        return check_certificate(text) if "." in text else _check_id(text)


# The CSRF token is in the body, which is read only after its length is checked.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@rate_limited
def verify(request: HttpRequest) -> HttpResponse:
    """Show whether a certificate is genuine and its licence still valid."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > 2 * MAXIMUM_BYTES:
        raise BodyTooLarge(maximumBytes=MAXIMUM_BYTES)
    return _verify(request)


@csrf_protect
def _verify(request: HttpRequest) -> HttpResponse:
    form = CertificateForm(request.POST, request.FILES) if request.method == "POST" else CertificateForm()
    check = None
    if form.is_bound:
        check = form.check() if form.is_valid() else None
    elif certificate_id := request.GET.get("id", ""):
        check = _check_id(certificate_id)
    return render(request, "pages/verify_certificate.html", {"form": form, "check": check})


@allow_any_origin("GET", "HEAD")
def did(request: HttpRequest) -> HttpResponse:
    """Return the document of the service's decentralized identifier (did:web): the public keys of credentials."""
    return JsonResponse(did_document(), headers=_FOR_AN_HOUR)


@allow_any_origin("GET", "HEAD")
def context(request: HttpRequest) -> HttpResponse:
    """Return the JSON-LD context of credentials."""
    return HttpResponse(credential_context(), content_type="application/ld+json", headers=_FOR_AN_HOUR)


def _check_document(text: str) -> CertificateCheck:
    """Check a JSON object: a verifiable credential, or the API's response with a signature."""
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return CertificateCheck(CertificateStatus.NOT_GENUINE)
    return check_credential(document) if "proof" in document else check_certificate(str(document.get("jws")))


def _check_id(certificate_id: str) -> CertificateCheck:
    try:
        return check_certificate_id(certificate_id)
    except NotFound:
        return CertificateCheck(CertificateStatus.NOT_GENUINE)
