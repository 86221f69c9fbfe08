"""What changed between two published versions of an asset, for buyers: public facts only, as data and in sentences."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import Field

from marketplace.api.response_models import Id, ResponseModel
from marketplace.core.errors import InvalidInput, NotFound

from ..field_labels import field_label
from ..models import Deliverable, Listing
from ..selectors.listings import approved_versions, deliverable_of_version
from ..selectors.reviews import approved_snapshots
from .files import Difference, FileChanges, FontChanges
from .listings import FileState, ListingChanges, compare_snapshots

# Fields that the public page shows. Prices change without a version; the readme is in what buyers download.
FIELDS = (
    *("title", "shortDescription", "description", "categorySlug", "tags", "fileType", "supportedPlatforms", "version", "videoUrl"),
    *("allowedLicenseSlugs", "aiTraining", "aiOrigin", "aiParts"),
)
VALUE_CHARS = 2000
# The most paths, fonts and names of each kind.
MAX_LISTED = 100


class VersionName(ResponseModel):
    """A published version."""

    id: Id = Field(description="Id of the file.")
    version: str = Field(description="Its label; empty if the vendor gave none.")
    approved_at: datetime = Field(description="When a reviewer approved it.")


class ValueChange(ResponseModel):
    """A value that changed."""

    name: str = Field(description="Name of the field, text, metric or axis.")
    before: str | None = Field(description="The value before, cut off after 2000 characters; null if there was none.")
    after: str | None = Field(description="The value now; null if there is none.")

    @classmethod
    def of(cls, change: Difference) -> Self:
        """Return a difference with its values as text."""
        return cls(name=change.name, before=_text(change.before), after=_text(change.after))


class NameList(ResponseModel):
    """Names, at most 100 of them, and how many there are."""

    count: int = Field(description="How many there are.")
    names: list[str] = Field(description="The first 100 of them.")

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        return cls(count=len(names), names=list(names[:MAX_LISTED]))


class FilesChanged(ResponseModel):
    """Files inside the archive by their paths; all empty where it is not an archive."""

    added: NameList = Field(description="Files that are new, and the new paths of those that were moved.")
    removed: NameList = Field(description="Files that are gone, and the former paths of those that were moved.")
    changed: NameList = Field(description="Files with other contents.")


class FontChange(ResponseModel):
    """What changed in a font."""

    path: str = Field(description="Path of the font in the archive; empty if the font is the file itself.")
    glyphs_before: int = Field(description="Number of glyphs before.")
    glyphs_after: int = Field(description="Number of glyphs now.")
    added: NameList = Field(description="Glyphs that are new.")
    removed: NameList = Field(description="Glyphs that are gone.")
    redrawn: NameList = Field(description="Glyphs with another outline.")
    respaced: NameList = Field(description="Glyphs with another width.")
    names: list[ValueChange] = Field(description="Names and other texts of the font.")
    metrics: list[ValueChange] = Field(description="Metrics of the font.")
    axes: list[ValueChange] = Field(description="Variable axes.")

    @classmethod
    def of(cls, font: FontChanges) -> Self:
        return cls(
            path=font.path,
            glyphs_before=font.glyph_count.before,
            glyphs_after=font.glyph_count.after,
            added=NameList.of([glyph.name for glyph in font.added]),
            removed=NameList.of([glyph.name for glyph in font.removed]),
            redrawn=NameList.of([glyph.name for glyph in font.redrawn]),
            respaced=NameList.of([glyph.name for glyph in font.respaced]),
            names=[ValueChange.of(each) for each in font.names[:MAX_LISTED]],
            metrics=[ValueChange.of(each) for each in font.metrics[:MAX_LISTED]],
            axes=[ValueChange.of(each) for each in font.axes[:MAX_LISTED]],
        )


class AddedRemoved(ResponseModel):
    """Names that are new, and those that are gone."""

    added: NameList = Field(description="Those that are new.")
    removed: NameList = Field(description="Those that are gone.")

    @classmethod
    def of(cls, differences: Iterable[Difference]) -> Self:
        """Return the names by what happened to them."""
        found = list(differences)
        gone = [each.name for each in found if each.after is None]
        return cls(added=NameList.of([each.name for each in found if each.before is None]), removed=NameList.of(gone))


class AssetChanges(ResponseModel):
    """What changed between two published versions of an asset."""

    asset_id: Id
    from_version: VersionName = Field(
        default_factory=VersionName.model_construct, alias="from", description="The earlier version; left out if there is none."
    )
    to_version: VersionName = Field(alias="to", description="The later version.")
    comparable: bool = Field(description="False if the files differ, and what differs in them was not recorded.")
    summary: list[str] = Field(description="What changed, in sentences.")
    details: list[ValueChange] = Field(description="Fields of the asset that changed, by their names in this API.")
    files: FilesChanged = Field(description="Files inside the archive that changed.")
    fonts: list[FontChange] = Field(description="Fonts that changed, at most 100.")
    hosts: AddedRemoved = Field(description="Hosts that texts in the file name.")
    tools: AddedRemoved = Field(description="Tools that a skill asks for.")


def changes_of(listing: Listing, *, since: str | None = None, until: str | None = None) -> AssetChanges:
    """Return what changed from one published version to another: by default from the version before to the one on sale.

    Raises:
        InvalidInput: `since` was published after `until`.
        NotFound: there is no such published version.
    """
    later = _published_version(listing, until) if until else listing.approved_deliverable
    if later is None or later.approved_at is None:
        raise NotFound
    earlier = _published_version(listing, since) if since else _previous_version(listing, later)
    if earlier is not None and earlier.approved_at is not None and earlier.approved_at > later.approved_at:
        raise InvalidInput(errors=[{"pointer": "?from", "code": "invalid", "detail": "This version is newer than `to`. Exchange the two."}])
    changes = ListingChanges((), FileState.SAME)
    if earlier is not None and earlier != later:
        snapshots = approved_snapshots(listing, [earlier, later])
        changes = compare_snapshots(listing, _snapshot(snapshots, earlier), _snapshot(snapshots, later))
    return _asset_changes(listing, earlier, later, changes)


def _published_version(listing: Listing, version: str) -> Deliverable:
    found = deliverable_of_version(listing, version)
    if found is None or found.blocked_at is not None:
        raise NotFound
    return found


def _previous_version(listing: Listing, later: Deliverable) -> Deliverable | None:
    return approved_versions(listing).filter(blocked_at__isnull=True, approved_at__lt=later.approved_at).first()


def _snapshot(snapshots: Mapping[str, Mapping[str, Any]], file: Deliverable) -> Mapping[str, Any]:
    """Return what was approved together with a file: the public fields and the file."""
    approved = snapshots.get(str(file.pk), {})
    shown = {name: approved[name] for name in FIELDS if name in approved}
    if file.version and "version" in shown:
        # The vendor may have changed the listing's between submission and approval.
        shown["version"] = file.version
    return shown | {"file": {"checksum": file.sha256}}


def _asset_changes(listing: Listing, earlier: Deliverable | None, later: Deliverable, changes: ListingChanges) -> AssetChanges:
    details = [ValueChange.of(change) for change in changes.fields if change.name in FIELDS]
    file = changes.file or FileChanges()
    values: dict[str, Any] = {
        "asset_id": listing.pk,
        "to_version": VersionName.model_validate(later),
        "comparable": changes.file_state != FileState.UNKNOWN,
        "summary": list(_sentences(details, changes)),
        "details": details,
        "files": FilesChanged(
            added=NameList.of([entry.path for entry in file.entries if entry.kind == "added" or entry.former_path]),
            removed=NameList.of(
                [entry.former_path or entry.path for entry in file.entries if entry.kind == "removed" or entry.former_path]
            ),
            changed=NameList.of([entry.path for entry in file.of_kind("changed") if not entry.former_path]),
        ),
        "fonts": [FontChange.of(font) for font in file.fonts[:MAX_LISTED]],
        "hosts": AddedRemoved.of(file.hosts),
        "tools": AddedRemoved.of(file.tools),
    }
    if earlier is not None:
        values["from_version"] = VersionName.model_validate(earlier)
    return AssetChanges.model_validate(values)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = ", ".join(map(str, value)) if isinstance(value, list) else f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"


def _sentences(details: Iterable[ValueChange], changes: ListingChanges) -> Iterable[str]:
    yield from (f"{field_label(each.name)} changed." for each in details)
    if changes.file_state == FileState.UNKNOWN:
        yield "The file is another one. What changed in it was not recorded."
    if changes.file is not None:
        said = list(_file_sentences(changes.file))
        yield from said or ["The file was packed or exported anew; its contents are the same."]


def _file_sentences(file: FileChanges) -> Iterable[str]:
    for kind, happened in (("added", "new"), ("removed", "gone"), ("moved", "in another place"), ("changed", "changed")):
        if entries := file.of_kind(kind):
            yield f"{_counted(len(entries), 'file')} inside {'is' if len(entries) == 1 else 'are'} {happened}."
    if file.other_entries:
        yield "Files beyond the first 5,000 changed."
    for font in file.fonts[:MAX_LISTED]:
        yield from _font_sentences(font)
    for path, differences in file.media[:MAX_LISTED]:
        yield f"{path or 'The file'} has another {', '.join(each.name for each in differences)}."
    for what, differences in (("host", file.hosts), ("tool", file.tools)):
        yield from (
            f"The file no longer names the {what} {each.name}." if each.after is None else f"The file now names the {what} {each.name}."
            for each in differences[:MAX_LISTED]
        )


def _font_sentences(font: FontChanges) -> Iterable[str]:
    name = font.path or "The font"
    if font.glyph_count.before != font.glyph_count.after:
        yield f"{name} has {_counted(font.glyph_count.after, 'glyph')} instead of {font.glyph_count.before}."
    for glyphs, happened in ((font.added, "new"), (font.removed, "gone"), (font.redrawn, "redrawn"), (font.respaced, "of another width")):
        if glyphs:
            first = ", ".join(glyph.name for glyph in glyphs[:5])
            more = ", …" if len(glyphs) > 5 else ""
            yield f"{name}: {_counted(len(glyphs), 'glyph')} {'is' if len(glyphs) == 1 else 'are'} {happened} ({first}{more})."
    for kind, differences in (("text", font.names), ("metric", font.metrics), ("axis", font.axes)):
        yield from (f"{name}: the {kind} {each.name} changed." for each in differences[:5])
    said = font.added or font.removed or font.redrawn or font.respaced or font.names or font.metrics or font.axes
    parts = {meaning or f"the table {tag}" for tag, meaning in font.tables} | ({"further tables"} if font.other_tables else set())
    if parts and not said:
        yield f"{name}: {', '.join(sorted(parts))} changed."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
