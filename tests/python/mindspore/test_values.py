# SPDX-License-Identifier: Apache-2.0
"""Values and gradients of every operator in every mode, against numpy in float64."""

import mindspore as ms
import numpy as np
import pytest
from calls import CASES, WITH_GRADIENT, draw, numeric_gradient
from mindspore import Tensor
from modes import (
    FORWARD,
    MODES,
    called,
    close,
    everywhere,
    forward,
    gradient,
    same_bits,
    weighted,
    weights_like,
)


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_numpys(libraries, case, mode):
    inputs = case.inputs()
    made = forward(called(libraries(case.group)[case.operator], case.attrs), inputs, mode)
    close(made, case.expected(inputs))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_gradients_are_those_of_finite_differences(libraries, case, mode):
    inputs = case.inputs()
    function = called(libraries(case.group)[case.operator], case.attrs)
    weights = weights_like(forward(function, inputs))
    made = gradient(weighted(function, weights), inputs, case.places, mode)
    single = inputs[0].dtype == ms.float32 if isinstance(inputs[0], Tensor) else False
    close(made, numeric_gradient(case, inputs, weights), 1e-5 if single else 1e-8)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_mode_has_the_same_bits(libraries, case):
    function = called(libraries(case.group)[case.operator], case.attrs)
    everywhere(function, case.inputs(), case.places or ())


@pytest.mark.parametrize("mode", FORWARD)
def test_numpy_arrays_and_tensors_give_the_same_bits(libraries, mode):
    op = libraries("fused_add_scale").fused_add_scale
    inputs = (draw(3, 4), draw(4), draw(4))
    due = op(*(value.asnumpy() for value in inputs))
    same_bits(forward(op, inputs, mode), Tensor(np.asarray(due)))
