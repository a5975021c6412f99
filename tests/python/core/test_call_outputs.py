# SPDX-License-Identifier: Apache-2.0
"""Several new outputs of different rank in one call, each with shape and strides of its own."""

import numpy as np

import opwright

METADEF = """{
  "op_name": "rows_and_sums",
  "input_desc": [{"name": "x", "dtype": ["float32"], "shape": ["r", "c"]}],
  "output_desc": [
    {"name": "twice", "dtype": ["float32"], "shape": ["r", "c"]},
    {"name": "sums", "dtype": ["float32"], "shape": ["r"]},
    {"name": "total", "dtype": ["float32"], "shape": []}
  ],
  "shape_rule": {"twice": "same(x)", "sums": ["r"], "total": []}
}"""

KERNEL = """
#include <opwright/kernel.h>
static void RowsAndSums(opwright::View<const float> x, opwright::View<float> twice,
                        opwright::View<float> sums, opwright::View<float> total) {
  *total.Data() = 0;
  for (int64_t r = 0; r < x.Dim(0); ++r) {
    sums(r) = 0;
    for (int64_t c = 0; c < x.Dim(1); ++c) {
      twice(r, c) = 2 * x(r, c);
      sums(r) += x(r, c);
    }
    *total.Data() += sums(r);
  }
}
OPWRIGHT_FUNCTION(rows_and_sums, RowsAndSums)
"""


def test_new_outputs_are_written_by_their_own_strides(tmp_path):
    (tmp_path / "op.json").write_text(METADEF)
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    op = opwright.load(tmp_path).rows_and_sums
    for shape in ((2, 3), (5, 7), (1, 4), (64, 3)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        twice, sums, total = op(x)
        assert np.array_equal(twice, 2 * x)
        assert np.array_equal(sums, x.sum(1))
        assert total.shape == () and total == x.sum()
