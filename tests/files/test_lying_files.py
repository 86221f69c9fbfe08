"""Files that are not what they say, or that programs would read differently, as the parsers judge them."""

import re
from typing import Any

import pytest

from catalog.models.files import PreviewKind
from marketplace.core.errors import UnsupportedType
from marketplace.storage.base import ObjectStorage
from vendors.errors import FileRejected
from vendors.previews import process_preview

from .helpers import inspect
from .hostile import DELIVERABLES, PREVIEWS, Case, Refused, Taken, Unsupported

KINDS = {"gallery-image": PreviewKind.GALLERY, "font-specimen": PreviewKind.FONT_SPECIMEN, "audio-preview": PreviewKind.AUDIO_PREVIEW}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("case", [case for case in (*DELIVERABLES, *PREVIEWS) if not case.heavy], ids=str)
def test_file_that_lies_gets_its_verdict(case: Case, local_store: ObjectStorage) -> None:
    def look() -> Any:
        return process_preview(KINDS[case.kind], case.build()) if case.kind else inspect(local_store, case.build())

    match case.verdict:
        case Taken(format=name):
            found = look()
            assert found.content_type == name if case.kind else case.verdict.fits(found.technical), found
        case Refused(words=words, reason=reason):
            with pytest.raises(FileRejected, match=re.escape(words)) as refusal:
                look()
            assert refusal.value.members["reason"] == reason
        case Unsupported(words=words):
            with pytest.raises(UnsupportedType, match=re.escape(words) or None):
                look()
