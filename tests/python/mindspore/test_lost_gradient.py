# SPDX-License-Identifier: Apache-2.0
"""A gradient through an output that the backward operator does not take is no silent zero."""

import lost_gradients
import mindspore as ms
import numpy as np
import pytest
from modes import MODES, close, gradient


@pytest.fixture(scope="module")
def stats(tmp_path_factory):
    return lost_gradients.load(tmp_path_factory.mktemp("lost") / "stats")


@pytest.mark.parametrize("mode", MODES)
def test_a_gradient_that_would_be_lost_is_refused(stats, mode):  # G15
    x = ms.Tensor(np.ones(3), ms.float32)

    def one(x):
        y, _ = stats(x)
        return y

    def both(x):
        y, z = stats(x)
        return y + z

    close(gradient(one, (x,), mode=mode), np.full(3, 2.0), 1e-6)
    with pytest.raises(RuntimeError, match=lost_gradients.WORDS):
        gradient(both, (x,), mode=mode)
