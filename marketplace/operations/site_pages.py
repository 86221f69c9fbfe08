"""The operator's pages: terms, privacy, refunds and contact."""

from typing import Any

from django.db import transaction

from marketplace.core import audit

from .models import SitePage

# What the operator must write, shown until then.
TO_WRITE = {
    SitePage.Slug.TERMS: "who operates this marketplace and under which law, who may have an account, what buyers and vendors agree to, "
    "and how either side ends the agreement",
    SitePage.Slug.PRIVACY: "who is responsible for personal data, what is stored and why, for how long, who receives it, "
    "and how people can see, export and delete theirs",
    SitePage.Slug.REFUNDS: "when a purchase is refunded, how to ask for it, how long that takes, and what happens to the licence",
    SitePage.Slug.CONTACT: "the operator's name and postal address, an email address that is read, and whom to tell about stolen work or abuse",
}


def text_of(slug: str) -> str:
    """Return the operator's text in Markdown, empty if it is not written yet."""
    return SitePage.objects.filter(slug=slug).values_list("text", flat=True).first() or ""


def unwritten_pages() -> list[SitePage.Slug]:
    """Return the pages that the operator has not written yet."""
    written = set(SitePage.objects.exclude(text="").values_list("slug", flat=True))
    return [slug for slug in SitePage.Slug if slug not in written]


@transaction.atomic
def save_site_page(*, page: SitePage, changed: list[str], actor: Any) -> SitePage:
    """Save the operator's text; visitors read it at once."""
    page.text = page.text.strip()
    audit.save_and_record(page, changed=changed, actor=actor)
    return page
