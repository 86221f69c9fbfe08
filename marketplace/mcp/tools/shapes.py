"""Arguments that no body or query of the API has in this form."""

from marketplace.core import bounds
from marketplace.core.api.fields import Line
from marketplace.core.api.serializers import Body

KEY_PATTERN = rf"[\x21-\x7e]{{1,{bounds.IDEMPOTENCY_KEY_CHARS}}}"


class AssetArgument(Body):
    """Which asset."""

    assetId = Line(max_length=bounds.SLUG_CHARS, help_text="The asset's id or slug.")


class DownloadArguments(AssetArgument):
    """Which asset, and which version of it."""

    version = Line(max_length=36, required=False, help_text="An owned version, or its id; the newest when left out.")
