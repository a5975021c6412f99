# SPDX-License-Identifier: Apache-2.0
"""How long a call takes, as the benchmarks and the demonstration measure it."""

from __future__ import annotations

import time
from collections.abc import Callable


def minimum(call: Callable[[], object], repetitions: int = 25) -> float:
    """Seconds for one call: the least of `repetitions` measurements of about 2 ms."""
    started = time.perf_counter()
    call()
    calls = max(1, int(0.002 / max(time.perf_counter() - started, 1e-7)))
    best = float("inf")
    for _ in range(repetitions):
        started = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - started) / calls)
    return best
