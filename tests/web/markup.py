"""Checks of the markup of every page: labels, headings, landmarks, form tokens."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from bs4 import BeautifulSoup, Tag

NAMELESS = {"hidden", "submit"}


def faults_of(html: bytes) -> list[str]:
    """Return what is wrong with a page's markup."""
    page = BeautifulSoup(html, "html.parser")
    # One walk for all: a selector walks the page anew, and takes ten times as long.
    tags = page.find_all(True)
    ids = Counter(str(tag["id"]) for tag in tags if tag.has_attr("id"))
    names = Counter(tag.name for tag in tags)
    labelled = {tag.get("for"): tag for tag in _named(tags, "label")}
    faults = [f"id {name} twice" for name, count in ids.items() if count > 1]
    if page.html is None or page.html.get("lang") != "en" or not page.title or not page.title.get_text(strip=True):
        faults.append("no language or title")
    if [names[name] for name in ("h1", "main", "header")] != [1, 1, 1]:
        faults.append("not exactly one h1, main and header")
    fields = [
        field for field in _named(tags, "input", "textarea", "select") if field.get("type") not in NAMELESS and not field.get("aria-label")
    ]
    faults += [f"{field} has no label" for field in fields if not field.get("id") or field["id"] not in labelled]
    # The form requires it itself.
    passwords = [labelled.get(field.get("id")) for field in fields if field.get("type") == "password"]
    faults += [f"{label} is optional" for label in passwords if label is not None and "(optional)" in label.get_text()]
    forms = [form for form in _named(tags, "form") if form.get("method") == "post"]
    faults += [f"{form} has no token" for form in forms if form.find("input", attrs={"name": "csrfmiddlewaretoken"}) is None]
    faults += [f"{link} says nothing" for link in _named(tags, "a", "button") if not _says(link)]
    faults += [f"{meta} says nothing" for meta in _named(tags, "meta") if meta.get("name") == "description" and not meta.get("content")]
    faults += [f"{image} has no text" for image in _named(tags, "img") if not image.has_attr("alt")]
    for attribute in ("aria-describedby", "aria-labelledby"):
        faults += [f"{tag[attribute]} is nowhere" for tag in tags if set(str(tag.get(attribute, "")).split()) - set(ids)]
    loaded = [tag for tag in _named(tags, "script", "img") if tag.has_attr("src")]
    loaded += [tag for tag in _named(tags, "link") if tag.has_attr("href") and tag.get("rel") != ["canonical"]]
    faults += [f"{tag} names another host" for tag in loaded if "//" in str(tag)]
    faults += [f"{tag.name} with a style or handler" for tag in tags if tag.name == "style" or {"style", "onclick"} & set(tag.attrs)]
    return faults


def read(response: Any, status: int = 200) -> str:
    """Return a well-made page."""
    assert response.status_code == status
    assert faults_of(response.content) == []
    return str(response.content.decode())


def soup(response: Any) -> BeautifulSoup:
    return BeautifulSoup(read(response), "html.parser")


def _named(tags: Iterable[Tag], *names: str) -> list[Tag]:
    return [tag for tag in tags if tag.name in names]


def _says(tag: Tag) -> bool:
    # Of every string: `get_text` leaves out what stands in a template. A picture says its words, too.
    return any(text.strip() for text in tag.find_all(string=True)) or tag.find("img", alt=True) is not None
