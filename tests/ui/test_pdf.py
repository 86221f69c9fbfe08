"""PdfDocuments as PDF: every word that is put in can be read in it, and nothing in it is markup."""

import pytest

from marketplace.ui.pdf import Grid, PdfDocument, render_pdf


def document(value: str) -> PdfDocument:
    return PdfDocument("Receipt", "a shop", [("Asset", value)], Grid(("Item", "Price"), [(value, "INR 1.00")]), ["Thank you."])


@pytest.mark.parametrize(
    "value",
    [
        "",
        "<b>bold</b> & <font color='red'>",
        "日本語フォント 한국어 汉字",
        "देवनागरी 🎉",
        "\x00\x1b[31m\u202e\n\t",
        "x" * 5000,
    ],
)
def test_pdf_is_made_of_any_text(value: str) -> None:
    assert render_pdf(document(value)).startswith(b"%PDF-")


def test_same_document_is_the_same_bytes() -> None:
    assert render_pdf(document("A font")) == render_pdf(document("A font")) != render_pdf(document("Another"))
