"""Charts on pages."""

from typing import Any

from django import template

from ..charts import Chart

register = template.Library()


@register.inclusion_tag("components/chart.html")
def chart(chart: Chart) -> dict[str, Any]:
    """Render a chart with tooltips and a table of its values; the page must link `css/chart.css`."""
    return {"chart": chart}
