"""The five categories and the three licence tiers that every installation begins with."""

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

_OPENING = """{title}

This licence is an agreement between you, the buyer, and the vendor who made the asset. It begins when you obtain the asset
through the marketplace and it covers the files in this package.

1. What you may do
{grants}

2. What you may not do
{limits}

3. Keeping copies
   You may keep as many copies as you need for your own work and for backups. Copies of the asset on its own may not be given
   to anyone who is not covered by this licence.

4. Ownership
   The asset is licensed, not sold. The vendor keeps all rights that this licence does not give you.

5. How long it lasts
   The licence has no end date. It ends when the purchase is refunded or when you break these terms and do not put it right
   within 30 days of being told. What you published within the terms before then may stay published.

6. No warranty
   The asset is provided as it is. To the extent that the law allows, the vendor and the marketplace are not liable for
   damages that arise from its use beyond the price that you paid for it.
"""

_NO_RESALE = "   - sell, lend, share or give away the asset on its own, or in a collection of assets;"
_NO_TRAINING = "   - use the asset as training material for a model whose purpose is to produce assets of its kind;"
_NO_CLAIM = "   - claim to have made the asset, or register it or parts of it as a trade mark."

LICENSE_TIERS = [
    (
        "personal",
        "Personal",
        "For yourself: private, educational and other work that earns no money.",
        Decimal(1),
        {
            "title": "PERSONAL LICENCE",
            "grants": "   - one person may use and change the asset in private, educational and other work that earns no money;\n"
            "   - show and share the results of such work.",
            "limits": "   - use the asset in work that is sold, that advertises something or that is done for a client;\n"
            f"{_NO_RESALE}\n{_NO_TRAINING}\n{_NO_CLAIM}",
        },
    ),
    (
        "commercial",
        "Commercial",
        "For one person or organisation: client work, advertising and products sold up to 10,000 times.",
        Decimal(2),
        {
            "title": "COMMERCIAL LICENCE",
            "grants": "   - everyone who works for you, one person or one organisation, may use and change the asset;\n"
            "   - use it in client work, in advertising, on websites, and in video and audio for any audience;\n"
            "   - sell products in which the asset is a part of something larger, up to 10,000 copies of each product.",
            "limits": "   - sell products of which the asset is the main value, such as a print of it on its own;\n"
            f"{_NO_RESALE}\n{_NO_TRAINING}\n{_NO_CLAIM}",
        },
    ),
    (
        "extended",
        "Extended",
        "For one organisation and its affiliates: unlimited copies, apps, games and products for sale.",
        Decimal(5),
        {
            "title": "EXTENDED LICENCE",
            "grants": "   - everyone who works for you, your organisation and its affiliates may use and change the asset;\n"
            "   - use it in client work, in advertising, on websites, and in video and audio for any audience;\n"
            "   - sell products in which the asset is a part, in any number of copies;\n"
            "   - embed it in applications, games and devices, as long as users cannot take it out as a file of its own.",
            "limits": f"{_NO_RESALE}\n{_NO_TRAINING}\n{_NO_CLAIM}",
        },
    ),
]


def seed(apps, schema_editor):
    category_model = apps.get_model("catalog", "Category")
    for position, (slug, name, description, icon, metadata) in enumerate(CATEGORIES, 1):
        category_model.objects.get_or_create(
            slug=slug,
            defaults={"name": name, "description": description, "icon": icon, "sort_order": position * 10, "metadata": metadata},
        )
    tier_model = apps.get_model("catalog", "LicenseTier")
    for position, (slug, name, summary, factor, parts) in enumerate(LICENSE_TIERS, 1):
        tier_model.objects.get_or_create(
            slug=slug,
            defaults={"name": name, "summary": summary, "text": _OPENING.format(**parts), "price_factor": factor, "sort_order": position * 10},
        )


def unseed(apps, schema_editor):
    """Take back what nothing uses."""
    listing_model = apps.get_model("catalog", "Listing")
    slugs = [slug for slug, *_ in CATEGORIES]
    used = listing_model.objects.filter(category__slug__in=slugs).values("category_id")
    apps.get_model("catalog", "Category").objects.filter(slug__in=slugs).exclude(pk__in=used).delete()
    apps.get_model("catalog", "LicenseTier").objects.filter(slug__in=[slug for slug, *_ in LICENSE_TIERS]).delete()


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial")]

    operations = [migrations.RunPython(seed, unseed)]
