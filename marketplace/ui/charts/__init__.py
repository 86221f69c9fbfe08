"""Charts over time, rendered on the server as SVG, without scripts and inline styles.

A view builds a `Chart` of `Series` over the points of a `Period`, a template includes `components/chart.html` with it as `chart`, on a
page that links `static/css/chart.css`. Chart libraries write style elements or scripts into the page, which our content security policy refuses.
"""

from .figure import Chart, Colour, ReferenceLine, Series
from .numbers import compact
from .periods import Period, Span, Step

__all__ = ["Chart", "Colour", "Period", "ReferenceLine", "Series", "Span", "Step", "compact"]
