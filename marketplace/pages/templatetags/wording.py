"""Times, money, scopes and states as people read them."""

from django import template

from marketplace.core.scopes import IN_PLAIN_WORDS, Scope
from marketplace.core.wording import money, status_words, tone, when

register = template.Library()
for words in (money, status_words, tone, when):
    register.filter(words)


@register.filter
def heading(tag: str) -> str:
    """Return a tag of the API as a heading."""
    return tag.replace("-", " ").capitalize()


@register.filter
def scope_words(scope: str) -> str:
    """Return what a scope allows, in plain words."""
    return IN_PLAIN_WORDS[Scope(scope)]
