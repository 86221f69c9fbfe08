"""Forms of the sections of a listing: details, prices, licences. They check the shape of the input; services check the rules."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django import forms

from catalog import bounds
from catalog.models import LicenseTier, Listing
from catalog.models.listings import AiOrigin, AiTraining

from ..services.editing import value_hashes
from .fields import PERCENT, PRICE, CategoryField, HttpsField, HundredthsField, LineField, SeenForm, SlugField, TagsField, TextField


class SectionForm(SeenForm):
    """A section of a listing."""

    def __init__(self, data: Any = None, *, listing: Listing) -> None:
        self.listing = listing
        super().__init__(data, initial=self.initial_of(listing) | {"seen": self._hashes()})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the listing's fields that the form edits."""
        return tuple(name for name in self.base_fields if name != "seen")

    def initial_of(self, listing: Listing) -> dict[str, Any]:
        return {name: getattr(listing, name) for name in self.names}

    def values(self) -> dict[str, Any]:
        """Return the cleaned values by the names of the listing's fields."""
        return {name: self.cleaned_data[name] for name in self.names}

    def clean_seen(self) -> Mapping[str, str]:
        """Return the hashes of the values that the page showed, none where the field is malformed."""
        try:
            seen = orjson.loads(self.cleaned_data["seen"] or "{}")
        except ValueError:
            return {}
        return {name: value for name, value in seen.items() if isinstance(value, str)} if isinstance(seen, dict) else {}

    def form_field_of(self, name: str) -> str:
        """Return the name of the form field in which a field of the listing is edited."""
        return name

    def current_text(self, name: str, listing: Listing) -> str:
        """Return the listing's current value as text."""
        return str(self.fields[name].prepare_value(getattr(listing, name)) or "nothing")

    def lock(self) -> None:
        """Make all fields read-only."""
        for field in self.fields.values():
            field.disabled = True

    def show_conflicts(self, names: Iterable[str], listing: Listing) -> None:
        """Add an error with the current value to each field that was changed elsewhere, and mark these values as seen."""
        for name in names:
            self.add_conflict(self.form_field_of(name), self.current_text(name, listing))
        self.listing = listing
        self.mark_seen(self._hashes())

    def _hashes(self) -> str:
        return orjson.dumps(value_hashes(self.listing, self.names)).decode()


class DetailsForm(SectionForm):
    """Title, description and other details of the listing."""

    title = LineField(label="Title", max_length=bounds.TITLE_CHARS)
    category = CategoryField(label="Category")
    short_description = LineField(
        label="Summary", max_length=bounds.SHORT_DESCRIPTION_CHARS, help_text="One sentence, shown on the card and in search results."
    )
    description = TextField(
        label="Description",
        required=False,
        rows=10,
        help_text="Markdown: headings, lists, links. HTML tags are left out; images go into the gallery.",
    )
    tags = TagsField(label="Tags", help_text=f"Separated by commas or lines, at most {bounds.MAX_TAGS} of {bounds.TAG_CHARS} characters.")
    version = LineField(
        label="Version",
        max_length=bounds.VERSION_CHARS,
        required=False,
        help_text="Shown next to the file, such as 1.2. On the storefront it changes with the next approved file.",
    )
    file_type = LineField(label="File type", max_length=bounds.FILE_TYPE_CHARS, required=False, help_text="Such as OTF, MOGRT or LUT.")
    supported_platforms = LineField(
        label="Made for",
        max_length=bounds.PLATFORMS_CHARS,
        required=False,
        help_text="Programs, separated by commas, such as Figma, After Effects 2023+.",
    )
    video_url = HttpsField(label="Video", required=False, help_text="The https address of a video, or of a page that shows it.")
    ai_training = forms.ChoiceField(
        label="AI training",
        choices=AiTraining.choices,
        widget=forms.RadioSelect,
        help_text="Whether it may be used to train AI models. “By licence” leaves it to the terms of the licence that somebody has.",
    )
    ai_origin = forms.ChoiceField(
        label="Made with AI",
        choices=AiOrigin.choices,
        widget=forms.RadioSelect,
        help_text="Whether parts of the file or of its pictures were made with AI. Reviewers and buyers see it.",
    )
    ai_parts = LineField(
        label="Parts made with AI",
        max_length=bounds.AI_PARTS_CHARS,
        required=False,
        help_text="Which parts they are, and which tool made them. Leave it empty unless you choose “Parts of it”.",
    )

    def __init__(self, data: Any = None, *, listing: Listing) -> None:
        super().__init__(data, listing=listing)
        tags, category = self.fields["tags"], self.fields["category"]
        if isinstance(tags, TagsField):
            tags.known = frozenset(listing.tags)
        if isinstance(category, CategoryField):
            category.offer(listing.category)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        declared = data.get("ai_origin") == AiOrigin.DECLARED
        if {"ai_origin", "ai_parts"} <= data.keys() and declared != bool(data["ai_parts"]):
            self.add_error("ai_parts", "Say which parts." if declared else "Empty this field, or choose “Parts of it” above.")
        return data


class DraftDetailsForm(DetailsForm):
    """The details of a draft that was never submitted, whose address can still be changed."""

    slug = SlugField(label="Address", help_text="Lower-case letters, digits and hyphens. It is fixed once you submit the listing.")
    field_order = ("title", "slug")


def details_form(data: Any = None, *, listing: Listing) -> DetailsForm:
    """Return the form for the details of the listing; an address that the form sent is validated even where it can't be changed any more."""
    with_address = not listing.was_submitted or (data is not None and "slug" in data)
    return (DraftDetailsForm if with_address else DetailsForm)(data, listing=listing)


class PricesForm(SectionForm):
    """Prices, discount and tax."""

    base_price_minor = HundredthsField(label="US dollars", **PRICE)
    price_inr_minor = HundredthsField(label="Rupees", required=False, **PRICE)
    price_eur_minor = HundredthsField(label="Euros", required=False, **PRICE)
    discount_bp = HundredthsField(
        label="Discount in percent", required=False, help_text="Deducted from each price, from 0 to 100.", **PERCENT
    )
    tax_rate_bp = HundredthsField(
        label="Tax in percent", required=False, help_text="Included in the price: buyers don't pay extra.", **PERCENT
    )
    field_order = ("base_price_minor", "price_inr_minor", "price_eur_minor", "discount_bp", "tax_rate_bp")

    @property
    def amounts(self) -> list[forms.BoundField]:
        return [self[name] for name in ("base_price_minor", "price_inr_minor", "price_eur_minor")]

    @property
    def percentages(self) -> list[forms.BoundField]:
        """The fields of the discount and the included tax."""
        return [self["discount_bp"], self["tax_rate_bp"]]


class LicencesForm(SectionForm):
    """The permitted licence tiers and the readme. Retired tiers are offered only where the listing permits them already."""

    names = ("allowed_license_slugs", "readme")
    EVERY, SOME = "every", "some"

    permit = forms.ChoiceField(
        label="Licences",
        choices=[(EVERY, "All licences, including future ones"), (SOME, "Only these licences")],
        widget=forms.RadioSelect,
    )
    slugs = forms.MultipleChoiceField(label="Permitted licences", required=False, widget=forms.CheckboxSelectMultiple)
    readme = TextField(
        label="Readme", required=False, rows=8, help_text="Packed with the file as README.txt: how to install it and where to get help."
    )

    def __init__(self, data: Any = None, *, listing: Listing, tiers: Iterable[LicenseTier]) -> None:
        permitted = listing.allowed_license_slugs or ()
        # A retired tier can be kept or removed, but not added.
        self.tiers = [tier for tier in tiers if tier.is_active or tier.slug in permitted]
        super().__init__(data, listing=listing)
        self.fields["slugs"].choices = [(tier.slug, tier.name) for tier in self.tiers]  # type: ignore[attr-defined]  # it is the field declared above

    @property
    def tier_rows(self) -> list[tuple[Any, LicenseTier]]:
        """Each checkbox with its tier."""
        return list(zip(self["slugs"], self.tiers, strict=True))

    @property
    def retired(self) -> list[str]:
        """The names of permitted licence tiers that are retired."""
        return [tier.name for tier in self.tiers if not tier.is_active]

    def initial_of(self, listing: Listing) -> dict[str, Any]:
        allowed = listing.allowed_license_slugs
        every = [tier.slug for tier in self.tiers if tier.is_active]
        return {
            "permit": self.EVERY if allowed is None else self.SOME,
            "slugs": every if allowed is None else allowed,
            "readme": listing.readme,
        }

    def form_field_of(self, name: str) -> str:
        """Return the name of the form field; the permitted licence tiers are edited in `slugs`."""
        return "slugs" if name == "allowed_license_slugs" else name

    def current_text(self, name: str, listing: Listing) -> str:
        if name != "allowed_license_slugs":
            return super().current_text(name, listing)
        allowed = listing.allowed_license_slugs
        return "every licence" if allowed is None else ", ".join(allowed)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("permit") == self.SOME and "slugs" not in self.errors:
            chosen = set(data["slugs"])
            if not chosen:
                self.add_error("slugs", "Choose at least one licence.")
            # A listing that permits only retired licences can still be edited otherwise.
            elif chosen <= {tier.slug for tier in self.tiers if not tier.is_active} and chosen != set(self.initial["slugs"]):
                self.add_error("slugs", "Choose at least one licence that is still offered.")
        return data

    def values(self) -> dict[str, Any]:
        data = self.cleaned_data
        chosen = list(dict.fromkeys(data["slugs"]))
        return {"allowed_license_slugs": None if data["permit"] == self.EVERY else chosen, "readme": data["readme"]}
