"""Charts over time, drawn on the server as SVG: no script, no inline style, the tokens' colours.

A page makes a `Chart` of `Series` over the points of a `Period` and writes `{% load charts %}{% chart it %}`; its style sheet is
`static/css/chart.css`. Libraries of charts put a style element or a script into what they draw, which our pages' policy refuses.
"""

from .figure import Chart, Mark, Series, Tone
from .numbers import compact
from .periods import Period, Span, Step

__all__ = ["Chart", "Mark", "Period", "Series", "Span", "Step", "Tone", "compact"]
