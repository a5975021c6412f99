# SPDX-License-Identifier: Apache-2.0
"""How long a call takes: other work on the machine makes a round slower, never faster, so the
least of many counts."""

from __future__ import annotations

import time
from collections.abc import Callable


def least(
    calls: dict[str, Callable[[], object]],
    rounds: int,
    inner: int,
    finish: Callable[[object], object] = lambda result: None,
) -> dict[str, float]:
    """Seconds a call by name. A round is `inner` calls of each, one name after the other, and
    `finish` of the last result, which counts too: it waits for what a call only starts."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.perf_counter()
            for _ in range(inner):
                result = call()
            finish(result)
            best[name] = min(best[name], (time.perf_counter() - started) / inner)
    return best


def minimum(call: Callable[[], object], rounds: int = 25) -> float:
    """Seconds for one call: the least of rounds of about 2 ms."""
    (once,) = least({"": call}, 1, 1).values()
    (seconds,) = least({"": call}, rounds, max(1, int(0.002 / max(once, 1e-7)))).values()
    return seconds
