# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - styles and markup read better unbroken.
"""The page of the demonstration: one HTML file that needs nothing else, no script, no network."""

from __future__ import annotations

from html import escape

from plot import gap_plots, loss_plot, places_of

STYLE = """
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--ink:#1c2024;--soft:#60646c;--line:#e2e3e6;
--pale0:#f3c7a5;--pale1:#a9cbf2;--pale2:#b5e0c6;--full0:#b3400a;--full1:#1250a8;--full2:#0f6b40;--good:#18794e;--bad:#b3261e;--bar:#dfe7f2}
@media (prefers-color-scheme:dark){:root{--bg:#111315;--card:#191c1f;--ink:#eceef0;--soft:#9ba1a8;
--line:#2d3238;--pale0:#6b3a1c;--pale1:#264a78;--pale2:#1f5a3d;--full0:#ff9d66;--full1:#86b8ff;--full2:#63d99f;--good:#5bd39b;--bad:#ff8f7d;--bar:#26354a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 20px 64px}
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
.grid{stroke:var(--line)}.legend{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:4px 18px;margin:.4em 0 1em;font-size:.82rem}
.legend svg{display:inline;width:54px;height:18px;margin-right:8px;vertical-align:middle}
.bar{fill:var(--bar)}pre{overflow-x:auto;margin:0;font:13px/1.5 ui-monospace,monospace}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:0;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
"""


def shape_text(shape) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def table(head: list[str], rows: list[str]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<div class="wide"><table><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def comparison_table(comparisons) -> str:
    """A row for each tensor, in it the errors of both in every place."""
    places = places_of(comparisons)
    head = "".join(f'<th colspan="2">{escape(str(place))}</th>' for place in places)
    names = "<th>native</th><th>custom</th>" * len(places)
    beside = [[row for row in comparisons if row.place == place] for place in places]
    rows, last = [], None
    for here in zip(*beside, strict=True):
        first = here[0]
        errors = "".join(
            error_cell(row.native_error, row) + error_cell(row.custom_error, row) for row in here
        )
        rows.append(
            f"<tr{' class=group' if first.shape != last else ''}><td>{shape_text(first.shape)}</td>"
            f'<td class="left">{escape(first.what)}</td><td>{first.elements}</td>'
            f"<td>{first.allowed:.1e}</td>{errors}</tr>"
        )
        last = first.shape
    return (
        '<div class="wide"><table id="errors"><thead>'
        f'<tr><th rowspan="2">shape of x</th><th rowspan="2" class="left">tensor</th>'
        f'<th rowspan="2">elements</th><th rowspan="2">allowed</th>{head}</tr><tr>{names}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def error_cell(error: float, row) -> str:
    kind = "" if error <= row.allowed else ' class="bad"'
    return f"<td{kind}>{error:.1e}</td>"


def native_mistakes(comparisons) -> str:
    """In words what the native expression gets wrong, if anything."""
    wrong = [row for row in comparisons if not row.native_error <= row.allowed]
    if not wrong:
        return ""
    words = "; ".join(f"{row.place}, {shape_text(row.shape)}, {row.what}" for row in wrong)
    return f"<p>The native expression itself is wrong in: {escape(words)}.</p>"


def native_distances(runs) -> str:
    """In one line how far the native runs are from the first of them."""
    first, *others = [run for run in runs if run.native is None]
    words = ", ".join(f"{run.place} {max(run.distances(first)):.1e}" for run in others)
    return (
        f'<p id="between">The native runs themselves, largest loss difference of one step from '
        f"{first.place}: {words}.</p>"
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


def render(runs, comparisons, timings, verdict: str, facts: dict[str, str]) -> str:
    worst = max(row.custom_error for row in comparisons)
    shapes = len({row.shape for row in comparisons})
    apart = max(max(run.distances(run.native)) for run in runs if run.native is not None)
    tiles = [
        tile(
            f"{min(run.accuracy for run in runs):.1%}",
            f"test accuracy, the least of {len(runs)} runs",
        ),
        tile(f"{apart:.1e}", "largest loss difference of one step, custom from native"),
        tile(f"{worst:.1e}", f"largest error of a value or gradient, {shapes} shapes"),
        tile(f"{sum(row.elements for row in comparisons):,}", "elements compared with float64"),
    ]
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Opwright: a custom operator in training</title><style>{STYLE}</style></head><body><main>
<h1>A custom operator, trained beside the native expression</h1>
<p>y = (x + bias) * scale, forward and backward as C++ kernels, in the same network
with the same first weights and batches, in {escape(", ".join(map(str, places_of(runs))))} mode.</p>
<div class="tiles">{"".join(tiles)}</div>
<section><h2>Training loss</h2><p>The curves lie on each other: pale bands are the native expression, dashes that take turns the custom operator.</p>
{loss_plot(runs)}</section>
<section><h2>How far apart they are</h2><p>All run in float32 and round their sums differently; equal losses lie on the lowest line.</p>
{native_distances(runs)}
{gap_plots(runs)}</section>
<section><h2>Values and gradients</h2><p>Largest absolute error over all elements, against float64; allowed is what rounding explains.
bias and scale have the last dimension of x.</p>
{native_mistakes(comparisons)}{comparison_table(comparisons)}</section>
<section><h2>Times in PyTorch</h2><p>Least of several measurements, for one call; backward gives all three gradients.</p>
{timing_table(timings)}</section>
<section><h2>The verdict of opwright check</h2><pre>{escape(verdict)}</pre></section>
<section><h2>What it ran on</h2><dl>{listed}</dl></section>
</main></body></html>
"""
