"""What every installation begins with; staff change it in the admin."""

import secrets
import textwrap
from datetime import UTC, datetime
from decimal import Decimal

from django.db import migrations

CATEGORIES = [
    (
        "fonts",
        "Fonts",
        "Typefaces for print, screen and video: single styles, families and variable fonts.",
        "text_fields",
        {"previewKind": "FontSpecimen", "commonFormats": ["otf", "ttf", "woff2", "zip"]},
    ),
    (
        "motion",
        "Motion",
        "Animated titles, transitions, loops and overlays for video editors.",
        "animation",
        {"previewKind": "Gallery", "commonFormats": ["zip", "mogrt", "json"]},
    ),
    (
        "templates",
        "Templates",
        "Ready-made layouts for documents, slides, social posts and the web.",
        "dashboard_customize",
        {"previewKind": "Gallery", "commonFormats": ["zip", "psd", "idml"]},
    ),
    (
        "presets",
        "Presets",
        "Settings that give photos, film and sound a finished character in one step.",
        "tune",
        {"previewKind": "AudioPreview", "commonFormats": ["zip", "cube", "xmp"]},
    ),
    (
        "ai-skills",
        "AI skills",
        "Instructions, tools and knowledge that teach an AI agent one more thing.",
        "smart_toy",
        {"previewKind": "Gallery", "commonFormats": ["zip", "tar"]},
    ),
]

LICENCE_TEXT = """{title}

This licence is an agreement between you, the buyer, and the
vendor who made the asset. It begins when you obtain the asset
through the marketplace and it covers the files in this package.

1. What you may do
{grants}

2. What you may not do
{limits}

3. Keeping copies
   You may keep as many copies as you need for your own work and
   for backups. Copies of the asset on its own may not be given
   to anyone who is not covered by this licence.

4. Ownership
   The asset is licensed, not sold. The vendor keeps all rights
   that this licence does not give you.

5. How long it lasts
   The licence has no end date. It ends when the purchase is
   refunded, when an upgrade replaces it, when your bank takes
   the payment back, or when you break these terms and do not
   put it right within 30 days of being told. What you published
   within the terms before then may stay published.

6. No warranty
   The asset is provided as it is. To the extent that the law
   allows, the vendor and the marketplace are not liable for
   damages that arise from its use beyond the price that you
   paid for it.
"""

NO_RESALE = "sell, lend, share or give away the asset on its own, or in a collection of assets"
NO_TRAINING = "use the asset as training material for a model whose purpose is to produce assets of its kind"
NO_CLAIM = "claim to have made the asset, or register it or parts of it as a trade mark"
NEVER = {"redistribution": NO_RESALE, "ai_training": NO_TRAINING}

ONE_PERSON = "one person may use and change the asset in private, educational and other work that earns no money"
SHARED = "show and share the results of such work, in up to 100 printed copies and on websites with up to 10,000 page views a month"
NO_SALE = "use the asset in work that is sold, that advertises something or that is done for a client"

TEAM = "up to 25 people who work for you, one person or one organisation, may use and change the asset"
WORK = "use it in client work, in advertising, in video and audio for any audience, and on websites with up to 1,000,000 page views a month"
PRODUCTS = "print and sell products in which the asset is a part of something larger, up to 10,000 copies of each product"
NO_MAIN_VALUE = "sell products of which the asset is the main value, such as a print of it on its own"

EVERYONE = "everyone who works for you, your organisation and its affiliates may use and change the asset"
ANY_WORK = "use it in client work, in advertising, on websites, and in video and audio for any audience"
ANY_COPIES = "print and sell products in which the asset is a part, in any number of copies"
EMBEDDED = "embed it in applications, games and devices, as long as users cannot take it out as a file of its own"

# Slug, name, summary and price factor; the clauses that grant and that forbid; and which of them decide on which uses.
LICENSE_TIERS = [
    (
        ("personal", "Personal", "For yourself: private, educational and other work that earns no money.", Decimal(1)),
        [ONE_PERSON, SHARED],
        [NO_SALE, NO_RESALE, NO_TRAINING, NO_CLAIM],
        {
            "allowed": {"personal": ONE_PERSON},
            "up_to": {"team": (1, ONE_PERSON), "print_run": (100, SHARED), "web_traffic": (10_000, SHARED)},
            "forbidden": dict.fromkeys(("commercial_project", "client_work", "merchandise", "template_resale"), NO_SALE) | NEVER,
        },
    ),
    (
        (
            "commercial",
            "Commercial",
            "For one person or organisation: client work, advertising and products sold up to 10,000 times.",
            Decimal(2),
        ),
        [TEAM, WORK, PRODUCTS],
        [NO_MAIN_VALUE, NO_RESALE, NO_TRAINING, NO_CLAIM],
        {
            "allowed": {"personal": TEAM, "commercial_project": WORK, "client_work": WORK, "broadcast": WORK},
            "up_to": {
                "team": (25, TEAM),
                "web_traffic": (1_000_000, WORK),
                "print_run": (10_000, PRODUCTS),
                "merchandise": (10_000, PRODUCTS),
            },
            "forbidden": NEVER,
        },
    ),
    (
        (
            "extended",
            "Extended",
            "For one organisation and its affiliates: unlimited copies, apps, games and products for sale.",
            Decimal(5),
        ),
        [EVERYONE, ANY_WORK, ANY_COPIES, EMBEDDED],
        [NO_RESALE, NO_TRAINING, NO_CLAIM],
        {
            "allowed": {
                **dict.fromkeys(("personal", "team"), EVERYONE),
                **dict.fromkeys(("commercial_project", "client_work", "web_traffic", "broadcast"), ANY_WORK),
                **dict.fromkeys(("print_run", "merchandise"), ANY_COPIES),
                "app": EMBEDDED,
            },
            "up_to": {},
            "forbidden": NEVER,
        },
    ),
]
PUBLISHED_AT = datetime(2026, 1, 1, tzinfo=UTC)

REASONS = [
    ("title_misleading", "title", "The title does not say what the asset is.", "Name the asset, without praise or search words."),
    ("summary_unclear", "shortDescription", "The short description does not tell what a buyer gets.", "Say in one sentence what it is."),
    ("description_thin", "description", "The description leaves out what a buyer needs.", "Say what is inside and how it is used."),
    ("category_wrong", "categorySlug", "The asset is in the wrong category.", "Choose the category that buyers would look in."),
    ("tags_misleading", "tags", "Some tags do not describe the asset.", "Remove tags that only attract searches."),
    ("platforms_wrong", "supportedPlatforms", "It does not work in a host tool that is listed.", "List only tools and versions that you tried."),
    ("preview_poor", "previews", "The previews do not show the asset well enough.", "Upload sharp images of the asset in use."),
    ("preview_mismatch", "previews", "The previews show something that is not in the file.", "Show only what buyers get."),
    ("file_broken", "file", "The file cannot be opened or used.", "Test the archive on another machine, then upload it again."),
    ("file_incomplete", "file", "Something that the listing promises is not in the file.", "Add it, or take it out of the text."),
    ("licensing_unclear", "file", "The file holds work of others without a licence for it.", "Remove it, or add its licence."),
    ("copied_work", "file", "The asset is a copy of someone else's work.", "Offer your own work only."),
    ("harmful_file", "file", "The file does harm.", "Upload a clean file."),
    ("pricing_implausible", "basePrice", "The price does not fit the asset.", "Compare with similar assets and correct it."),
    ("readme_missing", "readme", "Buyers need instructions that are not there.", "Write a readme: installation, use, support."),
    ("skill_unsafe", "file", "The skill tells agents to act against their users.", "Remove instructions that hide, exfiltrate or override."),
]

SYNONYMS = {
    "agent": ["skill", "prompt"],
    "cv": ["resume"],
    "font": ["typeface", "lettering"],
    "grotesk": ["grotesque"],
    "handwriting": ["script", "handwritten"],
    "icon": ["symbol", "glyph"],
    "logo": ["branding"],
    "monospace": ["monospaced", "mono"],
    "music": ["loops", "sounds", "audio"],
    "photo": ["lightroom", "lut"],
    "presentation": ["slides", "deck"],
    "resume": ["cv"],
    "serif": ["fonts"],
    "slides": ["presentation", "deck"],
    "sound": ["audio", "loops"],
    "typeface": ["fonts"],
    "video": ["motion", "footage"],
}


def _clauses(clauses):
    """Return the clauses as a list, in lines as long as those of the text."""
    lines = (textwrap.fill(clause, 64, initial_indent="   - ", subsequent_indent="     ") for clause in clauses)
    return ";\n".join(lines) + "."


def seed(apps, schema_editor):
    def add(name, rows):
        model = apps.get_model("catalog", name)
        model.objects.bulk_create([model(**row) for row in rows])

    add(
        "Category",
        (
            {"slug": slug, "name": name, "description": description, "icon": icon, "sort_order": position * 10, "metadata": metadata}
            for position, (slug, name, description, icon, metadata) in enumerate(CATEGORIES, 1)
        ),
    )
    for position, (tier, grants, limits, uses) in enumerate(LICENSE_TIERS, 1):
        columns = dict(zip(("slug", "name", "summary", "price_factor"), tier, strict=True))
        saved = apps.get_model("catalog", "LicenseTier").objects.create(**columns, sort_order=position * 10)
        text = LICENCE_TEXT.format(title=f"{saved.name.upper()} LICENCE", grants=_clauses(grants), limits=_clauses(limits))
        permissions = {use: {"permission": what, "clause": clause} for what in ("allowed", "forbidden") for use, clause in uses[what].items()}
        for use, (quantity, clause) in uses["up_to"].items():
            permissions[use] = {"permission": "up_to", "quantity": quantity, "clause": clause}
        version = {"version": 1, "name": saved.name, "text": text, "permissions": permissions, "published_at": PUBLISHED_AT}
        add("LicenseTerms", [{"tier": saved, **version}])
    add("RejectionReason", ({"code": code, "field": field, "message": message, "hint": hint} for code, field, message, hint in REASONS))
    add("SearchSynonym", ({"word": word, "synonyms": " ".join(words)} for word, words in SYNONYMS.items()))
    add("CatalogVersion", [{"value": secrets.token_hex(16)}])


class Migration(migrations.Migration):
    dependencies = [("catalog", "0002_full_text_search")]

    operations = [migrations.RunPython(seed, migrations.RunPython.noop)]
