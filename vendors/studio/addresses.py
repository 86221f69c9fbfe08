"""Checks whether a slug is available while it is being typed."""

from collections.abc import Callable
from dataclasses import dataclass

from django import forms

from ..slugs import proposed
from .fields import SlugField


@dataclass(frozen=True)
class Address:
    """The result of checking a slug.

    Args:
        path: The path of the page; empty where the slug is refused or nothing was typed yet.
        refusal: Why the slug cannot be used; empty where it can.
    """

    path: str = ""
    refusal: str = ""


def address_of(slug: str, words: str, *, prefix: str, taken: Callable[[str], bool]) -> Address:
    """Check the slug and return the path of the page.

    Args:
        slug: The typed slug.
        words: The title or name from which a slug is derived where none was typed.
        prefix: The path before the slug.
        taken: Tells whether a slug is in use.
    """
    # Nothing longer could come from the form either.
    wanted = slug.strip() or proposed(words)
    if not wanted:
        return Address()
    try:
        wanted = SlugField().clean(wanted)
    except forms.ValidationError as error:
        return Address(refusal=" ".join(error.messages))
    return Address(refusal="It is taken.") if taken(wanted) else Address(prefix + wanted)
