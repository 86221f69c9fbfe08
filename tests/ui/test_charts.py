"""Charts: scales, gaps, what is below zero, huge figures, time zones, and what is drawn on the page."""

import datetime as dt
from itertools import pairwise
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.template.loader import render_to_string

from marketplace.ui.charts import Chart, Period, ReferenceLine, Series, Step, compact
from marketplace.ui.charts.figure import HEIGHT, WIDTH
from marketplace.ui.charts.numbers import MAX_STEPS, axis_values

NOON = dt.datetime(2026, 3, 1, 12, 34, tzinfo=dt.UTC)


def chart_of(*values: int, **options: Any) -> Chart:
    period = Period.last(len(values), Step.DAY, until=NOON)
    shape = options.pop("shape", "bar")
    return Chart("sales", "Sales", period, [Series("sold", values, shape=shape)], empty_text="Nothing sold yet.", **options)


def drawn(chart: Chart) -> BeautifulSoup:
    html = render_to_string("components/chart.html", {"chart": chart})
    return BeautifulSoup(html, "html.parser")


@pytest.mark.parametrize("values", [[], [0], [0, 0, 0]])
def test_empty_chart_shows_its_text_instead_of_a_drawing(values: list[int]) -> None:
    period = Period.last(max(len(values), 1), Step.DAY, until=NOON)
    series = [Series("sold", values)] if values else []
    page = drawn(Chart("sales", "Sales", period, series, empty_text="Publish a listing."))
    assert "Publish a listing." in page.get_text()
    assert not page.select("svg, table, input")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1], [0, 1]),
        ([7], [0, 2, 4, 6, 8]),
        ([-100], [-100, -50, 0]),
        ([-30, 100], [-50, 0, 50, 100]),
        ([-1, 10**15], [-5 * 10**14, 0, 5 * 10**14, 10**15]),
    ],
)
def test_scale_is_round_and_spans_the_values_and_zero(values: list[int], expected: list[int]) -> None:
    assert axis_values(values) == expected


@pytest.mark.parametrize("low", [0, -1, -999, -(10**9)])
@pytest.mark.parametrize("high", [0, 1, 9, 11, 4_321, 10**12 + 1])
def test_scale_has_few_steps_at_equal_distances(low: int, high: int) -> None:
    ticks = axis_values([low, high])
    assert ticks[0] <= low <= high <= ticks[-1]
    assert 0 in ticks
    assert len({after - before for before, after in pairwise(ticks)}) == 1
    assert 2 <= len(ticks) <= MAX_STEPS + 2


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (1_250, "1.2k"),
        (123_456, "123k"),
        (-2_500_000, "\N{MINUS SIGN}2.5m"),
        (10**19, "10,000Qa"),
    ],
)
def test_figures_on_the_scale_are_short(number: int, words: str) -> None:
    assert compact(number) == words


def test_positive_bars_rise_from_zero_and_negative_ones_hang_below_it() -> None:
    chart = chart_of(100, -50, 0)
    (_, _, top, _, above), (_, _, bottom, _, below) = chart.bar_segments()
    assert chart.ticks == [-50, 0, 50, 100]
    assert (top, top + above) == (0, chart.zero)
    assert (bottom, bottom + below) == (chart.zero, HEIGHT)


def test_bars_of_one_point_are_stacked() -> None:
    period = Period.last(1, Step.DAY, until=NOON)
    series = [Series("done", [6], "accent"), Series("lost", [-2], "bad"), Series("failed", [2], "bad")]
    chart = Chart("calls", "Calls", period, series, empty_text="")
    (_, x, done, width, _), (_, _, lost, lost_width, _), (_, failed_x, failed, _, height) = chart.bar_segments()
    assert chart.ticks == [-5, 0, 5, 10]
    assert failed + height == done
    assert (lost, failed_x, lost_width) == (chart.zero, x, width)
    assert width < WIDTH


def test_line_chart_connects_all_points_and_draws_a_single_one_as_a_dot() -> None:
    ((_, path, dots),) = chart_of(1, 2, 3, 4, shape="line").lines()
    assert (path.count("M"), path.count("L"), dots.count("h0")) == (1, 3, 4)
    ((_, path, dots),) = chart_of(5, shape="line").lines()
    assert (path.count("L"), dots) == (0, "M500 33.33h0")
    text = drawn(chart_of(1, 0, 3)).select_one("table")
    assert text is not None
    assert [cell.get_text() for cell in text.select("td")] == ["1", "0", "3"]


def test_bars_of_huge_values_stay_inside_the_drawing() -> None:
    chart = chart_of(10**17, -(10**17), 1, reference=ReferenceLine("limit", 3 * 10**17))
    for _, x, y, width, height in chart.bar_segments():
        assert 0 <= y <= y + height <= HEIGHT
        assert 0 <= x <= x + width <= WIDTH
    assert chart.reference_y is not None
    assert 0 <= chart.reference_y < HEIGHT


def test_points_are_whole_days_months_and_hours_in_utc() -> None:
    kolkata = dt.timezone(dt.timedelta(hours=5, minutes=30))
    days = Period.last(3, Step.DAY, until=dt.datetime(2026, 3, 1, 3, tzinfo=kolkata))
    assert [days.name(index) for index in range(3)] == ["26 Feb 2026", "27 Feb 2026", "28 Feb 2026"]
    months = Period.last(14, Step.MONTH, until=NOON)
    assert (months.name(0), months.name(13), len(set(months.points))) == ("Feb 2025", "Mar 2026", 14)
    hours = Period.last(24, Step.HOUR, until=NOON)
    assert (hours.name(0), hours.short_name(23)) == ("28 Feb, 13:00", "12:00")
    # The night on which many clocks are turned has its 24 hours all the same.
    assert {after - before for before, after in pairwise(hours.points)} == {dt.timedelta(hours=1)}


def test_amounts_are_summed_into_the_periods_of_a_chart() -> None:
    days = Period.last(2, Step.DAY, until=NOON)
    kolkata = dt.timezone(dt.timedelta(hours=5, minutes=30))
    amounts = {
        dt.date(2026, 2, 28): 1,
        dt.datetime(2026, 3, 1, 4, tzinfo=kolkata): 2,
        dt.datetime(2026, 3, 1, 23, 59, tzinfo=dt.UTC): 4,
        dt.date(2026, 3, 2): 8,
    }
    assert days.fill(amounts) == (3, 4)


def test_chart_has_a_text_alternative_for_all_that_is_drawn() -> None:
    chart = chart_of(5, -1_234, 0, reference=ReferenceLine("limit", 10), show=lambda number: f"{number} pieces")
    page = drawn(chart)
    svg = page.select_one("svg")
    assert svg is not None
    assert [tag.get_text() for tag in svg.select("title, desc")] == ["Sales", chart.description]
    assert "sold: -1229 pieces in all, most in 27 Feb 2026 with 5 pieces. limit: 10 pieces." in chart.description
    labels = [" ".join(label.get_text(" ").split()) for label in page.select("label")]
    assert labels == ["27 Feb 2026 sold: 5 pieces", "28 Feb 2026 sold: -1234 pieces", "1 Mar 2026 sold: 0 pieces"]
    assert [field["id"] for field in page.select("input")] == [label["for"] for label in page.select("label")]
    assert [row.get_text() for row in page.select("tbody th")] == ["27 Feb 2026", "28 Feb 2026", "1 Mar 2026"]


def test_drawing_needs_no_style_and_no_script_and_is_escaped() -> None:
    period = Period.last(1, Step.DAY, until=NOON)
    chart = Chart("a", '<script>"a"', period, [Series("<b>'", [1])], empty_text="", reference=ReferenceLine("<i>", 1))
    page = drawn(chart)
    assert not page.select("style, script, [style], [onclick], i, b b")
    assert '<script>"a"' in page.get_text()
