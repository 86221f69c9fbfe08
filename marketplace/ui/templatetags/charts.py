"""Charts on pages."""

from typing import Any

from django import template

from ..charts import Chart

register = template.Library()


@register.inclusion_tag("components/chart.html")
def chart(chart: Chart) -> dict[str, Any]:
    """Draw a chart, with its figures beside each point and once more as a table; the page links `css/chart.css`."""
    return {"chart": chart}
