# SPDX-License-Identifier: Apache-2.0
"""What kernels throw and return becomes an exception; the process and the operator live on."""

import threading

import numpy as np
import pytest

import opwright

X = np.ones(3, np.float32)


# X01
@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        (0, "CL012", "bad"),
        (1, "CL012", ""),
        (2, "CL010", "memory"),
        (4, "CL012", "Data<float64>() of a float32 tensor"),
        (3, "CL011", "加法失败: é 42"),
        (5, "CL011", "half a word: \ufffd\ufffd \ufffd."),
        (6, "CL012", "latin \ufffdt\ufffd"),
    ],
)
def test_a_kernels_failure_is_an_exception_with_the_operators_name(lib, how, code, words):
    for _ in range(2):
        with pytest.raises(opwright.CallError) as caught:
            lib.fails(X, how=how)
        assert caught.value.code == code
        assert str(caught.value).startswith("fails: ") and words in str(caught.value)
    assert lib.twice(X).tolist() == [2, 2, 2]


# X01
def test_a_failing_call_leaves_nothing_behind_on_any_thread(lib):
    seen = []

    def work():
        for how in (0, 1, 2, 3):
            try:
                lib.fails(X, how=how)
            except opwright.CallError as error:
                seen.append(error.code)
            lib.twice(X)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["CL010"] * 4 + ["CL011"] * 4 + ["CL012"] * 8


def test_failing_calls_do_not_keep_their_arguments(lib):
    import sys

    x = np.ones(3, np.float32)
    before = sys.getrefcount(x)
    for _ in range(10):
        with pytest.raises(opwright.CallError):
            lib.fails(x)
        with pytest.raises(opwright.CallError):
            lib.fails(x, how="a")
        with pytest.raises(opwright.CallError):
            lib.join([x, x], wrong=1)
        lib.join([x, x])
        lib.twice(x)
    assert sys.getrefcount(x) == before


def test_the_kernel_runs_without_the_gil(lib):
    """Two threads in calls at once, while a third runs Python."""
    x = np.ones((400, 400), np.float32)
    results = []
    threads = [threading.Thread(target=lambda: results.append(lib.matmul(x, x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(c, np.full((400, 400), 400)) for c in results)
