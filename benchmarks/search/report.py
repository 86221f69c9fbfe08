"""The tables of the figures, with ratios and goals."""

import statistics
from typing import Any

# The goals: the 95th percentile in the largest catalog, in milliseconds; the recall; and hostile queries as multiples of ordinary ones.
SLOWEST = 50
RECALL = 0.99
HOSTILE = 5
ENGINES = {"postgres": "PostgreSQL", "sqlite": "SQLite"}

Results = dict[int, dict[str, Any]]


def report(engine: str, results: Results, machine: str) -> tuple[str, bool]:
    """Return the tables as Markdown, and whether every goal was met."""
    lines = [
        f"# Search on {ENGINES[engine]}",
        "",
        f"Settings: {ENGINES[engine]}, no cache.",
        "",
        f"{machine}. Milliseconds of processor time, the best of three runs of each query and of each look-up by primary key.{_about_peer(results)}",
        "",
    ]
    for size, figures in results.items():
        lines += [f"## {size:,} listings", "", *_sizes(figures), "", *_table(figures), "", *_beside(figures), ""]
    goals = _goals(results)
    lines += ["## Goals", "", "| goal | measured | |", "|---|--:|---|"]
    lines += [f"| {name} ≤ {goal:g} | {figure:.1f} | {'met' if figure <= goal else '**missed**'} |" for name, figure, goal in goals]
    recall = min(figures["quality"]["search"][0] for figures in results.values())
    lines.append(f"| recall@10 ≥ {RECALL} | {recall:.3f} | {'met' if recall >= RECALL else '**missed**'} |")
    return "\n".join(lines) + "\n", recall >= RECALL and all(figure <= goal for _, figure, goal in goals)


def _about_peer(results: Results) -> str:
    """Return a sentence about tantivy if it was measured too, otherwise nothing."""
    measured = any("tantivy" in figures["quality"] for figures in results.values())
    return " tantivy, an embedded search engine written in Rust, is asked the ordinary kinds of query too." if measured else ""


def _sizes(figures: dict[str, Any]) -> list[str]:
    sizes = figures["sizes"]
    text = f"{sizes['SearchTerm']:,} words."
    if figures["took"] is not None:
        text += f" Indexed from nothing in {figures['took']:.0f} s (`rebuild_search`)."
    return [text]


def _table(figures: dict[str, Any]) -> list[str]:
    peers = [name for name in figures["quality"] if name != "search"]
    head = [
        "query",
        "p50",
        "p95",
        "p99",
        "statements",
        "look-up p50 / p95 / p99",
        "in look-ups",
        *(f"{name} p50 / p95" for name in peers),
    ]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for row in figures["rows"]:
        mine, lookup = row["search"], row["lookup"]
        cells = [
            row["name"],
            f"{mine['p50']:.2f}",
            f"{mine['p95']:.2f}",
            f"{mine['p99']:.2f}",
            str(row["statements"]),
            f"{lookup['p50']:.2f} / {lookup['p95']:.2f} / {lookup['p99']:.2f}",
            f"{mine['p50'] / lookup['p50']:.1f}",
        ]
        cells += [f"{row[name]['p50']:.2f} / {row[name]['p95']:.2f}" if name in row else "" for name in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _beside(figures: dict[str, Any]) -> list[str]:
    lines = ["Quality on 500 misspelt titles, each typed whole (tests/catalog/misspelling.py):"]
    lines += [f"- {name}: recall@10 {recall:.3f}, MRR {mrr:.3f}" for name, (recall, mrr) in figures["quality"].items()]
    return lines


def _goals(results: Results) -> list[tuple[str, float, float]]:
    largest = results[max(results)]
    slowest = max(row["search"]["p95"] for row in largest["rows"] if not row["hostile"])
    goals: list[tuple[str, float, float]] = [("the slowest ordinary kind: p95, in milliseconds", slowest, SLOWEST)]
    hostile = max(row["search"]["p95"] for row in largest["rows"] if row["hostile"])
    goals.append(("worst hostile p95 ÷ mean p95 of the ordinary kinds, at the largest catalog", hostile / _ordinary(largest), HOSTILE))
    return goals


def _ordinary(figures: dict[str, Any]) -> float:
    """Return the mean of the ordinary kinds' 95th percentiles."""
    return float(statistics.mean(row["search"]["p95"] for row in figures["rows"] if not row["hostile"]))
