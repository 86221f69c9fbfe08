"""Actions of the audit log as people read them."""

from django import template

from ..subjects import action_label

register = template.Library()
register.filter(action_label)
