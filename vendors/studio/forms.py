"""The shapes of the vendor's forms; the rules are the services', and the API's fields'."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import orjson
from django import forms

from catalog.models import LicenseTier, Listing
from catalog.models.listings import ListingStatus
from marketplace.core import bounds

from ..api.fields import HttpsUrl
from ..services.editing import marks_of
from ..slugs import proposed
from .fields import CategoryField, HttpsField, HundredthsField, LineField, SlugField, TagsField, TextField, judged

LINKS = 10
_SEEN_CHARS = 2000
_PRICE = {"most": bounds.PRICE_MINOR}
_PERCENT = {"most": bounds.WHOLE_BP, "empty": 0}


class FilterForm(forms.Form):
    """Says which of the vendor's listings are shown."""

    q = forms.CharField(label="Search", max_length=bounds.SEARCH_QUERY_CHARS, required=False)
    status = forms.ChoiceField(label="Status", choices=[("", "All"), *ListingStatus.choices], required=False)
    after = forms.UUIDField(required=False)


class StoreForm(forms.Form):
    """What a vendor says of the store."""

    store_name = LineField(label="Store name", max_length=bounds.NAME_CHARS, help_text="Buyers see it on each of your listings.")
    bio = TextField(label="About the store", required=False, help_text="Two or three sentences: who you are and what you make.")


class ApplicationForm(StoreForm):
    """Asks for a store."""

    store_slug = SlugField(
        label="Store address",
        required=False,
        help_text="Lower-case letters, digits and hyphens. Leave it empty to derive it from the name. It can't be changed later.",
    )
    links = forms.CharField(
        label="Where your work can be seen",
        required=False,
        max_length=LINKS * (bounds.URL_CHARS + 2),
        help_text=f"Your site, portfolio or profiles: one https address per line, at most {LINKS}. Reviewers look at them.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "none", "spellcheck": "false"}),
    )
    field_order = ("store_name", "store_slug", "bio", "links")

    def clean_links(self) -> list[str]:
        """Return the addresses."""
        lines = [line.strip() for line in self.cleaned_data["links"].splitlines() if line.strip()]
        if len(lines) > LINKS:
            raise forms.ValidationError(f"At most {LINKS} addresses.")
        return [judged(HttpsUrl(), line) for line in lines]

    def clean(self) -> dict[str, Any]:
        """Make the address from the name where none is given."""
        return _with_slug(self, "store_slug", "store_name")


class NewListingForm(forms.Form):
    """What a draft needs at least."""

    title = LineField(label="Title", max_length=bounds.TITLE_CHARS)
    slug = SlugField(
        label="Address",
        required=False,
        help_text="Lower-case letters, digits and hyphens. Leave it empty to derive it from the title. It can't be changed later.",
    )
    category = CategoryField(label="Category")
    short_description = LineField(
        label="In one sentence", max_length=bounds.SHORT_DESCRIPTION_CHARS, help_text="Shown on the card and in search results."
    )
    base_price_minor = HundredthsField(label="Price in US dollars", help_text="What a buyer pays, tax included. 0 is free.", **_PRICE)

    def clean(self) -> dict[str, Any]:
        """Make the address from the title where none is given."""
        return _with_slug(self, "slug", "title")


class SectionForm(forms.Form):
    """A part of a listing. It remembers what it showed, so that a change made elsewhere meanwhile is told and not overwritten.

    Args:
        data: What was sent, if anything was.
        listing: The vendor's, as it is now.
    """

    # The fields of each of the services that save them.
    details: ClassVar[tuple[str, ...]] = ()
    prices: ClassVar[tuple[str, ...]] = ()
    licensing: ClassVar[tuple[str, ...]] = ()

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=_SEEN_CHARS)

    def __init__(self, data: Any = None, *, listing: Listing) -> None:
        self.names = (*self.details, *self.prices, *self.licensing)
        self.listing = listing
        super().__init__(data, initial=self.initial_of(listing) | {"seen": self._marks()})

    def initial_of(self, listing: Listing) -> dict[str, Any]:
        """Return what is filled in at first."""
        return {name: getattr(listing, name) for name in self.names}

    def values(self) -> dict[str, Any]:
        """Return what was typed, by the listing's fields."""
        return {name: self.cleaned_data[name] for name in self.names}

    def parts(self) -> dict[str, Any]:
        """Return what was typed, by the service that saves it."""
        values = self.values()
        parts = {"details": self.details, "prices": self.prices, "licensing": self.licensing}
        return {part: {name: values[name] for name in names} for part, names in parts.items() if names}

    def clean_seen(self) -> Mapping[str, str]:
        """Return the marks of what the page showed; nonsense saw nothing."""
        try:
            seen = orjson.loads(self.cleaned_data["seen"] or "{}")
        except ValueError:
            return {}
        return {name: mark for name, mark in seen.items() if isinstance(mark, str)} if isinstance(seen, dict) else {}

    def place_of(self, name: str) -> str:
        """Return the form's field for one of the listing's."""
        return name

    def shown(self, name: str, listing: Listing) -> str:
        """Return what the listing holds now, in words."""
        return str(self.fields[name].prepare_value(getattr(listing, name)) or "nothing")

    def lock(self) -> None:
        """Show what stands there without letting it be changed."""
        for field in self.fields.values():
            field.disabled = True

    def show_conflicts(self, names: Iterable[str], listing: Listing) -> None:
        """Say beside each field what someone else made of it, and take it as seen from now on."""
        for name in names:
            shown = _shortened(self.shown(name, listing))
            message = (
                f"It was changed to “{shown}” in the meantime, in another window or by a program. Save again to replace it with yours."
            )
            self.add_error(self.place_of(name), message)
        self.listing = listing
        sent: Any = self.data
        changed = sent.copy()
        changed["seen"] = self._marks()
        self.data = changed

    def _marks(self) -> str:
        return orjson.dumps(marks_of(self.listing, self.names)).decode()


class DetailsForm(SectionForm):
    """What the listing is."""

    details = (
        "title",
        "category",
        "short_description",
        "description",
        "tags",
        "version",
        "file_type",
        "supported_platforms",
        "video_url",
    )

    title = LineField(label="Title", max_length=bounds.TITLE_CHARS)
    category = CategoryField(label="Category")
    short_description = LineField(
        label="In one sentence", max_length=bounds.SHORT_DESCRIPTION_CHARS, help_text="Shown on the card and in search results."
    )
    description = TextField(
        label="Description", required=False, rows=10, help_text="Markdown: headings, lists, links. Images go into the gallery."
    )
    tags = TagsField(label="Tags", help_text=f"Separated by commas or lines, at most {bounds.TAGS} of {bounds.TAG_CHARS} characters.")
    version = LineField(label="Version", max_length=bounds.VERSION_CHARS, required=False, help_text="Shown next to the file, such as 1.2.")
    file_type = LineField(label="File type", max_length=bounds.FILE_TYPE_CHARS, required=False, help_text="Such as OTF, MOGRT or LUT.")
    supported_platforms = LineField(
        label="Made for",
        max_length=bounds.PLATFORMS_CHARS,
        required=False,
        help_text="Programs, separated by commas, such as Figma, After Effects 2023+.",
    )
    video_url = HttpsField(label="Video", required=False, help_text="The https address of a video, or of a page that shows it.")

    def __init__(self, data: Any = None, *, listing: Listing) -> None:
        super().__init__(data, listing=listing)
        tags = self.fields["tags"]
        if isinstance(tags, TagsField):
            tags.known = frozenset(listing.tags)


class PricesForm(SectionForm):
    """What the listing costs."""

    details = ("base_price_minor", "discount_bp", "tax_rate_bp")
    prices = ("price_inr_minor", "price_eur_minor")

    base_price_minor = HundredthsField(label="US dollars", **_PRICE)
    price_inr_minor = HundredthsField(label="Rupees", required=False, **_PRICE)
    price_eur_minor = HundredthsField(label="Euros", required=False, **_PRICE)
    discount_bp = HundredthsField(
        label="Discount in percent", required=False, help_text="Deducted from each price, from 0 to 100.", **_PERCENT
    )
    tax_rate_bp = HundredthsField(
        label="Tax in percent", required=False, help_text="Included in the price: buyers don't pay extra.", **_PERCENT
    )
    field_order = ("base_price_minor", "price_inr_minor", "price_eur_minor", "discount_bp", "tax_rate_bp")

    @property
    def amounts(self) -> list[forms.BoundField]:
        """The prices."""
        return [self[name] for name in ("base_price_minor", *self.prices)]

    @property
    def percentages(self) -> list[forms.BoundField]:
        """What is taken off them, and what is inside of them."""
        return [self["discount_bp"], self["tax_rate_bp"]]


class LicencesForm(SectionForm):
    """What buyers may do with it, and what they read first.

    Args:
        data: What was sent, if anything was.
        listing: The vendor's, as it is now.
        tiers: Every licence tier; of retired ones the form offers what the listing permits already.
    """

    licensing = ("allowed_license_slugs", "readme")
    EVERY, SOME = "every", "some"

    permit = forms.ChoiceField(
        label="Licences",
        choices=[(EVERY, "All licences, including future ones"), (SOME, "Only these licences")],
        widget=forms.RadioSelect,
    )
    slugs = forms.MultipleChoiceField(label="Permitted licences", required=False, widget=forms.CheckboxSelectMultiple)
    readme = TextField(
        label="Read me", required=False, rows=8, help_text="Packed with the file as README.txt: how to install it, whom to ask."
    )

    def __init__(self, data: Any = None, *, listing: Listing, tiers: Iterable[LicenseTier]) -> None:
        permitted = listing.allowed_license_slugs or ()
        # A retired one can be kept, and given up for good, but not be chosen.
        self.tiers = [tier for tier in tiers if tier.is_active or tier.slug in permitted]
        super().__init__(data, listing=listing)
        self.fields["slugs"].choices = [(tier.slug, tier.name) for tier in self.tiers]  # type: ignore[attr-defined]  # it is the field declared above

    @property
    def tier_rows(self) -> list[tuple[Any, LicenseTier]]:
        """The chooser's lines, each with its tier."""
        return list(zip(self["slugs"], self.tiers, strict=True))

    @property
    def retired(self) -> list[str]:
        """The names of the permitted licences that are not among every licence."""
        return [tier.name for tier in self.tiers if not tier.is_active]

    def initial_of(self, listing: Listing) -> dict[str, Any]:
        """Return what is filled in at first."""
        allowed = listing.allowed_license_slugs
        every = [tier.slug for tier in self.tiers if tier.is_active]
        return {
            "permit": self.EVERY if allowed is None else self.SOME,
            "slugs": every if allowed is None else allowed,
            "readme": listing.readme,
        }

    def place_of(self, name: str) -> str:
        """Return the chooser for the permitted licences."""
        return "slugs" if name == "allowed_license_slugs" else name

    def shown(self, name: str, listing: Listing) -> str:
        """Return the names of the permitted licences."""
        if name != "allowed_license_slugs":
            return super().shown(name, listing)
        allowed = listing.allowed_license_slugs
        return "every licence" if allowed is None else ", ".join(allowed)

    def clean(self) -> dict[str, Any]:
        """Demand a licence where only some are permitted."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("permit") == self.SOME and "slugs" not in self.errors:
            chosen = set(data["slugs"])
            if not chosen:
                self.add_error("slugs", "Choose at least one licence.")
            # What stood there already does not hinder another change.
            elif chosen <= {tier.slug for tier in self.tiers if not tier.is_active} and chosen != set(self.initial["slugs"]):
                self.add_error("slugs", "Choose at least one licence that is still offered.")
        return data

    def values(self) -> dict[str, Any]:
        """Return what was chosen: None permits every active licence."""
        data = self.cleaned_data
        chosen = list(dict.fromkeys(data["slugs"]))
        return {"allowed_license_slugs": None if data["permit"] == self.EVERY else chosen, "readme": data["readme"]}


def _with_slug(form: forms.Form, slug: str, words: str) -> dict[str, Any]:
    """Return what was typed, with a slug made of the words where none was given."""
    data: dict[str, Any] = form.cleaned_data
    if not data.get(slug) and slug not in form.errors and words in data:
        field = form.fields[slug]
        suggestion = proposed(data[words])
        try:
            data[slug] = field.clean(suggestion) if suggestion else ""
        except forms.ValidationError as error:
            form.add_error(slug, error)
        if not suggestion:
            form.add_error(slug, "Enter an address: none can be derived from this name.")
    return data


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
