# SPDX-License-Identifier: Apache-2.0
"""Writes docs/benchmarks.md and the numbers of README.md from the results of `make bench`.

    python tools/benchmarks_page.py [--results build/bench-results]

Reads three formats: Google Benchmark's JSON (*_bench of C++); of call_bench.py and
mindspore_bench.py
    {"machine": {...}, "command": "...",
     "rows": [{"name", "value", "unit", "peer", "peer_value", "ratio", "goal"}]}
where peer, peer_value, ratio and goal may be absent and a goal is an upper bound of the value; and
of torch_bench.py
    {"machine": {...}, "command": "...", "results": {measurement: {way: seconds}}}
Prints the path of the page last.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from marked import ROOT, replaced

BEGIN = "<!-- measured numbers: tools/benchmarks_page.py -->"
END = "<!-- end of the measured numbers -->"
# The rows of README.md: (file, name in it, what it says there).
SHOWN = (
    (
        "call_bench",
        "numpy call, out=, 8 elements",
        "a call on numpy arrays of 8 elements, `out=` given",
    ),
    ("call_bench", "edit to result", "from an edited kernel to its result, in a running process"),
    ("call_bench", "build, cache hit", "a build of unchanged sources"),
)


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def google_rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """One row for each benchmark: the median where there are repetitions."""
    entries = data.get("benchmarks", [])
    medians = [entry for entry in entries if entry.get("aggregate_name") == "median"]
    plain = [entry for entry in entries if entry.get("run_type", "iteration") == "iteration"]
    rows = []
    for entry in medians or plain:
        if entry.get("error_occurred"):
            raise SystemExit(f"error: {entry['name']}: {entry.get('error_message', 'failed')}")
        name = entry.get("run_name", entry["name"])
        rows.append({"name": name, "value": entry["real_time"], "unit": entry["time_unit"]})
    return rows


def google_machine(data: dict[str, Any]) -> dict[str, Any]:
    context = data.get("context", {})
    machine = {"cores": context.get("num_cpus"), "date": context.get("date")}
    return {key: value for key, value in machine.items() if value is not None}


def torch_rows(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The table of torch_bench: seconds by measurement and way, against the hand-written one."""
    peer = "C++ TORCH_LIBRARY"
    return [
        {
            "name": f"{what}, 8 float32: {way}",
            "value": seconds * 1e6,
            "unit": "us",
            "peer": peer,
            "peer_value": ways[peer] * 1e6,
        }
        for what, ways in data["results"].items()
        for way, seconds in ways.items()
    ]


def section(stem: str, data: dict[str, Any]) -> list[str]:
    google = "benchmarks" in data
    rows = google_rows(data) if google else data.get("rows") or torch_rows(data)
    machine = google_machine(data) if google else data["machine"]
    command = f"build/release/bench/{stem}" if google else data["command"]
    lines = [f"## {stem}", "", f"`{command}`", ""]
    if machine:
        lines += [", ".join(f"{key} {value}" for key, value in machine.items()), ""]
    lines += [
        "| what | value | unit | peer | peer's value | ratio | goal | met |",
        "| --- " * 8 + "|",
    ]
    for row in rows:
        goal, peer_value = row.get("goal"), row.get("peer_value")
        ratio = row.get("ratio")
        if ratio is None and peer_value:
            ratio = row["value"] / peer_value
        met = "" if goal is None else "yes" if row["value"] <= goal else "**no**"
        cells = [row["name"], number(row["value"]), row["unit"], row.get("peer") or ""]
        cells += [number(peer_value), number(ratio), number(goal), met]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def about() -> list[str]:
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    compiler = subprocess.run(
        ["c++", "--version"], capture_output=True, text=True
    ).stdout.splitlines()
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    return [
        f"- Processor: {model}",
        f"- Compiler: {compiler[0] if compiler else 'unknown'}",
        f"- Written: {now}",
    ]


def page(found: dict[str, dict[str, Any]]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Written by `tools/benchmarks_page.py` after `make bench`; not edited by hand.",
        "",
    ]
    lines += [
        "A ratio is the value divided by the peer's: below 1 is faster than the peer.",
        "",
        *about(),
        "",
    ]
    for stem, data in found.items():
        lines += section(stem, data)
    return "\n".join(lines)


def shown(found: dict[str, dict[str, Any]]) -> str:
    """The README's table; empty when one of its rows was not measured."""
    lines = ["| | measured | goal |", "| --- | --- | --- |"]
    for stem, name, words in SHOWN:
        row = next((r for r in found.get(stem, {}).get("rows", []) if r["name"] == name), None)
        if row is None:
            return "Not measured yet: run `make bench`."
        goal = "" if row.get("goal") is None else f"{number(row['goal'])} {row['unit']}"
        lines.append(f"| {words} | {number(row['value'])} {row['unit']} | {goal} |")
    machine = found["call_bench"]["machine"]
    lines += ["", ", ".join(f"{key} {value}" for key, value in machine.items()) + "."]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "bench-results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "benchmarks.md")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    arguments = parser.parse_args()
    found = {
        file.stem: json.loads(file.read_text()) for file in sorted(arguments.results.glob("*.json"))
    }
    if not found:
        raise SystemExit(f"error: no results in {arguments.results}; run make bench")
    arguments.page.write_text(page(found), encoding="utf-8")
    readme = arguments.readme.read_text(encoding="utf-8")
    arguments.readme.write_text(replaced(readme, BEGIN, END, shown(found)), encoding="utf-8")
    print(arguments.page.resolve())


if __name__ == "__main__":
    main()
