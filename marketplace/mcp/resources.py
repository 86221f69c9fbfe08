"""What can be read beside the tools: the manifest and the readme of an asset."""

from mcp_types import ResourceLink


def manifest_link(slug: str) -> ResourceLink:
    """Return the link to an asset's manifest."""
    return ResourceLink(uri=f"asset://{slug}/manifest", name=f"{slug}/manifest", title="AI manifest", mime_type="application/json")
