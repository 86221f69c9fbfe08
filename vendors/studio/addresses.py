"""Whether an address is free, told while it is typed."""

from collections.abc import Callable
from dataclasses import dataclass

from django import forms

from ..slugs import proposed
from .fields import SlugField


@dataclass(frozen=True)
class Address:
    """What became of a typed slug.

    Args:
        path: Where the page will be; empty where nothing can be told yet.
        refusal: Why it cannot be; empty where it can.
    """

    path: str = ""
    refusal: str = ""


def address_of(slug: str, words: str, *, prefix: str, taken: Callable[[str], bool]) -> Address:
    """Return where the page will be.

    Args:
        slug: What was typed as the address.
        words: The title or name that it is made from otherwise.
        prefix: The path before it.
        taken: Tells whether a slug is someone's.
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
