# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - styles and markup read better unbroken.
"""The page of the demonstration: one HTML file that needs nothing else, no script, no network."""

from __future__ import annotations

import math
from html import escape

WIDTH, HEIGHT = 860, 320
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 42
# The first curve is wide and pale, so that those that lie on it are seen.
STROKES = (
    ("var(--a)", 7, ""),
    ("var(--b)", 1.8, ""),
    ("var(--c)", 1.8, "6 4"),
    ("var(--d)", 1.8, "2 3"),
)

STYLE = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--ink:#1c2024;--soft:#60646c;--line:#e2e3e6;
--a:#9dc3f5;--b:#b3261e;--c:#18794e;--d:#6f42c1;--good:#18794e;--bad:#b3261e;--bar:#dfe7f2}
@media (prefers-color-scheme:dark){:root{--bg:#111315;--card:#191c1f;--ink:#eceef0;--soft:#9ba1a8;
--line:#2d3238;--a:#2f5f99;--b:#ff8f7d;--c:#5bd39b;--d:#b79cf2;--good:#5bd39b;--bad:#ff8f7d;--bar:#26354a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:940px;margin:0 auto;padding:40px 20px 64px}
h1{font-size:1.7rem;line-height:1.25;margin:0 0 .3em}h2{font-size:1.12rem;margin:0 0 .2em}
p{margin:.2em 0 .9em;color:var(--soft)}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:22px 24px;margin-top:22px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:14px;margin-top:22px}
.tile{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:16px 18px}
.tile b{display:block;font-size:1.5rem;font-variant-numeric:tabular-nums}.tile span{color:var(--soft);font-size:.88rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:6px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft)}th:first-child,td:first-child,.left{text-align:left}
tr.group td{border-top:2px solid var(--line)}.good{color:var(--good)}.bad{color:var(--bad);font-weight:700}
svg{display:block;width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui,sans-serif}
.grid{stroke:var(--line)}.legend{display:flex;flex-wrap:wrap;gap:6px 22px;margin:.6em 0 0;font-size:.9rem}
.legend svg{display:inline;width:34px;height:10px;margin-right:8px;vertical-align:middle}
.bar{fill:var(--bar)}pre{overflow-x:auto;margin:0;font:13px/1.5 ui-monospace,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:0;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
"""


def shape_text(shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def smoothed(values: list[float], span: int) -> list[float]:
    """Losses of single batches hide the curve: each point is the mean of `span` steps."""
    means = []
    for start in range(0, len(values), span):
        part = values[start : start + span]
        means.append(sum(part) / len(part))
    return means


class Plot:
    """Lines over one pair of axes; the vertical one is logarithmic."""

    def __init__(self, x_max: float, low: float, high: float, x_name: str, y_name: str):
        self.x_max = max(x_max, 1)
        self.low = math.floor(math.log10(max(low, 1e-12)))
        self.high = max(math.ceil(math.log10(max(high, 1e-12))), self.low + 1)
        self.parts: list[str] = []
        every = max(1, (self.high - self.low + 5) // 6)
        for power in range(self.low, self.high + 1, every):
            y = self.y(10.0**power)
            label = f"{10.0**power:g}" if -3 <= power <= 3 else f"1e{power}"
            self.parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
            )
        for k in range(6):
            at = self.x_max * k / 5
            self.parts.append(
                f'<text x="{self.x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{at:g}</text>'
            )
        self.parts.append(
            f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(x_name)}</text>'
            f'<text x="{LEFT}" y="{HEIGHT - 6}">{escape(y_name)}</text>'
        )

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.x_max

    def y(self, value: float) -> float:
        share = (math.log10(max(value, 10.0**self.low)) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    def line(self, name: str, points, stroke) -> None:
        color, width, dashes = stroke
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(
            f'<polyline class="curve" data-run="{escape(name)}" points="{path}" fill="none" '
            f'stroke="{color}" stroke-width="{width}" stroke-dasharray="{dashes}" '
            'stroke-linejoin="round"/>'
        )

    def svg(self, label: str) -> str:
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
            f"{''.join(self.parts)}</svg>"
        )


def stroke_of(index: int):
    return STROKES[min(index, len(STROKES) - 1)]


def legend(runs) -> str:
    items = []
    for index, run in enumerate(runs):
        color, width, dashes = stroke_of(index)
        items.append(
            f'<span><svg viewBox="0 0 34 10" aria-hidden="true"><line x1="1" x2="33" y1="5" y2="5" '
            f'stroke="{color}" stroke-width="{width}" stroke-dasharray="{dashes}"/></svg>'
            f"{escape(run.framework)}, {escape(run.name)}: accuracy {run.accuracy:.4f}, "
            f"{run.seconds:.1f} s</span>"
        )
    return f'<div class="legend">{"".join(items)}</div>'


def loss_plot(runs) -> str:
    curves = [smoothed(run.losses, max(1, run.steps_per_epoch // 4)) for run in runs]
    epochs = len(runs[0].losses) / runs[0].steps_per_epoch
    flat = [value for curve in curves for value in curve]
    plot = Plot(epochs, min(flat), max(flat), "epoch", "training loss, means of a quarter epoch")
    for index, (run, curve) in enumerate(zip(runs, curves, strict=True)):
        points = [(epochs * (k + 1) / len(curve), value) for k, value in enumerate(curve)]
        plot.line(f"{run.framework}, {run.name}", points, stroke_of(index))
    return plot.svg("training loss of every run by epoch") + legend(runs)


def difference_plot(runs) -> str:
    first, *others = runs
    epochs = len(first.losses) / first.steps_per_epoch
    plot = Plot(
        epochs, 1e-10, 1e-2, "epoch", f"largest loss difference from {first.name}, by epoch"
    )
    for index, run in enumerate(others, 1):
        steps = [abs(a - b) for a, b in zip(first.losses, run.losses, strict=True)]
        span = first.steps_per_epoch
        largest = [max(steps[k : k + span]) for k in range(0, len(steps), span)]
        plot.line(
            f"{run.name} difference", [(k + 1, v) for k, v in enumerate(largest)], stroke_of(index)
        )
    return plot.svg("largest difference of the losses by epoch").replace(
        'class="curve"', 'class="gap"'
    )


def table(head: list[str], rows: list[str]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def comparison_table(comparisons) -> str:
    rows, last = [], None
    for row in comparisons:
        verdict = '<td class="good">right</td>' if row.right else '<td class="bad">wrong</td>'
        rows.append(
            f"<tr{' class=group' if row.shape != last else ''}><td>{shape_text(row.shape)}</td>"
            f"<td>{escape(row.what)}</td><td>{row.elements}</td><td>{row.native_error:.2e}</td>"
            f"<td>{row.custom_error:.2e}</td><td>{row.allowed:.1e}</td>{verdict}</tr>"
        )
        last = row.shape
    return table(
        ["shape of x", "tensor", "elements", "native", "custom", "allowed", "verdict"], rows
    )


def timing_table(timings) -> str:
    rows = [
        f"<tr><td>{shape_text(row.shape)}</td><td>{row.what}</td><td>{row.native:.2f}</td>"
        f"<td>{row.custom:.2f}</td><td>{row.native / row.custom:.2f}</td></tr>"
        for row in timings
    ]
    return table(["shape of x", "call", "native, us", "custom, us", "native / custom"], rows)


def tile(value: str, words: str) -> str:
    return f'<div class="tile"><b>{escape(value)}</b><span>{escape(words)}</span></div>'


def render(
    runs, difference: float, comparisons, timings, verdict: str, facts: dict[str, str]
) -> str:
    """runs: the first is the one that the others are held against."""
    worst = max(row.custom_error for row in comparisons)
    shapes = len({row.shape for row in comparisons})
    tiles = [
        tile(f"{min(run.accuracy for run in runs):.1%}", "test accuracy, the least of all runs"),
        tile(f"{difference:.1e}", "largest loss difference in one step"),
        tile(f"{worst:.1e}", f"largest error of a value or gradient, {shapes} shapes"),
        tile(f"{sum(row.elements for row in comparisons):,}", "elements compared with float64"),
    ]
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Opwright: a custom operator in training</title><style>{STYLE}</style></head><body><main>
<h1>A custom operator, trained beside the native expression</h1>
<p>y = (x + bias) * scale, forward and backward as C++ kernels, in the same network with the same seeds.</p>
<div class="tiles">{"".join(tiles)}</div>
<section><h2>Training loss</h2><p>The curves lie on each other; the wide pale one is the native expression.</p>
{loss_plot(runs)}</section>
<section><h2>How far apart they are</h2><p>Both run in float32 and round their sums differently.</p>
{difference_plot(runs)}</section>
<section><h2>Values and gradients</h2><p>Largest absolute error over all elements, against float64.</p>
{comparison_table(comparisons)}</section>
<section><h2>Times</h2><p>Least of several measurements, for one call; backward gives all three gradients.</p>
{timing_table(timings)}</section>
<section><h2>The verdict of opwright check</h2><pre>{escape(verdict)}</pre></section>
<section><h2>What it ran on</h2><dl>{listed}</dl></section>
</main></body></html>
"""
