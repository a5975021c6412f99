# SPDX-License-Identifier: Apache-2.0
"""The curves of the page, as SVG. Of curves that lie on each other each is seen: the native ones
are bands of shrinking width, the custom ones dashes that take turns."""

from __future__ import annotations

import math
from html import escape

from train import Place, Run

WIDTH = 860
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 42
DASH = 9


def places_of(runs: list[Run]) -> list[Place]:
    return list(dict.fromkeys(run.place for run in runs))


def smoothed(values: list[float], span: int) -> list[float]:
    """Losses of single batches hide the curve: each point is the mean of `span` steps."""
    means = []
    for start in range(0, len(values), span):
        part = values[start : start + span]
        means.append(sum(part) / len(part))
    return means


def strokes(runs: list[Run], every: list[Run]) -> list[str]:
    """The look of each run's line in a plot of these runs; colours are the same in every plot."""
    colors = places_of(every)
    places = places_of(runs)
    found = []
    for run in runs:
        color, turn = colors.index(run.place), places.index(run.place)
        if run.native is None:
            look = f'stroke="var(--pale{color})" stroke-width="{max(4, 18 - 6 * turn)}"'
        else:
            look = f'stroke="var(--full{color})" stroke-width="2.4"'
            if len(places) > 1:
                gap = DASH * (len(places) - 1)
                look += f' stroke-dasharray="{DASH} {gap}" stroke-dashoffset="{-DASH * turn}"'
        found.append(look)
    return found


class Plot:
    """Lines over one pair of axes; the vertical one is logarithmic."""

    def __init__(self, height: int, x_max: float, low: float, high: float, y_name: str):
        self.height = height
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
                f'<text x="{self.x(at):.1f}" y="{height - BOTTOM + 18}" text-anchor="middle">'
                f"{at:g}</text>"
            )
        self.parts.append(
            f'<text x="{WIDTH - RIGHT}" y="{height - 6}" text-anchor="end">epoch</text>'
            f'<text x="{LEFT}" y="{height - 6}">{escape(y_name)}</text>'
        )

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.x_max

    def y(self, value: float) -> float:
        share = (math.log10(max(value, 10.0**self.low)) - self.low) / (self.high - self.low)
        return self.height - BOTTOM - (self.height - TOP - BOTTOM) * share

    def line(self, kind: str, name: str, points, stroke: str) -> None:
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(
            f'<polyline class="{kind}" data-run="{escape(name)}" points="{path}" fill="none" '
            f'{stroke} stroke-linejoin="round"/>'
        )

    def svg(self, label: str) -> str:
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{escape(label)}">'
            f"{''.join(self.parts)}</svg>"
        )


def legend(runs: list[Run], looks: list[str], facts: list[str]) -> str:
    items = [
        f'<span><svg viewBox="0 0 54 18" aria-hidden="true"><line x1="0" x2="54" y1="9" y2="9" '
        f"{look}/></svg>{escape(str(run))}: {escape(fact)}</span>"
        for run, look, fact in zip(runs, looks, facts, strict=True)
    ]
    return f'<div class="legend">{"".join(items)}</div>'


def loss_plot(runs: list[Run]) -> str:
    curves = [smoothed(run.losses, max(1, run.steps_per_epoch // 4)) for run in runs]
    epochs = len(runs[0].losses) / runs[0].steps_per_epoch
    flat = [value for curve in curves for value in curve]
    plot = Plot(360, epochs, min(flat), max(flat), "training loss, means of a quarter epoch")
    looks = strokes(runs, runs)
    # The native ones first: the others lie on them.
    for run, curve, look in sorted(
        zip(runs, curves, looks, strict=True), key=lambda drawn: drawn[0].native is not None
    ):
        points = [(epochs * (k + 1) / len(curve), value) for k, value in enumerate(curve)]
        plot.line("curve", str(run), points, look)
    facts = [f"accuracy {run.accuracy:.4f}, {run.seconds:.1f} s" for run in runs]
    return plot.svg("training loss of every run by epoch") + legend(runs, looks, facts)


def gap_plots(runs: list[Run]) -> str:
    """For each framework, how far its custom runs are from its native ones."""
    custom = [run for run in runs if run.native is not None]
    top = max(1e-5, *(max(run.distances(run.native)) for run in custom))
    plots = []
    for framework in dict.fromkeys(run.place.framework for run in custom):
        here = [run for run in custom if run.place.framework == framework]
        span = here[0].steps_per_epoch
        epochs = len(here[0].losses) / span
        words = f"{framework}: largest loss difference from its native expression, by epoch"
        plot = Plot(220, epochs, 1e-9, top, words)
        looks = strokes(here, runs)
        for run, look in zip(here, looks, strict=True):
            steps = run.distances(run.native)
            largest = [max(steps[k : k + span]) for k in range(0, len(steps), span)]
            plot.line("gap", str(run), [(k, value) for k, value in enumerate(largest, 1)], look)
        facts = [f"at most {max(run.distances(run.native)):.1e}" for run in here]
        plots.append(plot.svg(words) + legend(here, looks, facts))
    return "".join(plots)
