# SPDX-License-Identifier: Apache-2.0
"""Backward operators with optional outputs and a gradient of their own."""

from sources.describe import HEADER, metadef, param

_D = ["float64"]


def _third(name, given, seconds, first=()):
    """The backward operator of a backward one: given, what it reads of it, and two gradients."""
    return metadef(
        name,
        [*(param(each, _D) for each in (*given, *first)), *seconds],
        [param("da", _D), param("db", _D), param("dg", _D)],
        shape_rule="same(a)",
    )


def _family(name, kind, read=()):
    """y of a and b, its gradient with optional outputs, and that one's: `kind` says whether it
    takes absent gradients, `read` which outputs of the gradient it reads."""
    given = ["a", "b", "grad_y"]
    grads = ["grad_grad_a", "grad_grad_b"]
    return [
        metadef(
            name,
            [param("a", _D), param("b", _D)],
            [param("y", _D)],
            shape_rule="same(a, b)",
            gradient=f"{name}_grad",
        ),
        metadef(
            f"{name}_grad",
            [param(each, _D) for each in given],
            [param("grad_a", _D, kind="optional"), param("grad_b", _D, kind="optional")],
            shape_rule={"grad_a": "same(a)", "grad_b": "same(b)"},
            gradient={
                "op": f"{name}_third",
                "inputs": [*given, *read, *grads],
                "outputs": given,
            },
        ),
        _third(f"{name}_third", given, [param(each, _D, kind=kind) for each in grads], read),
    ]


second = (
    [
        *_family("product", "required"),
        *_family("product_absent", "optional"),
        *_family("growth", "required", ["grad_b"]),
        metadef(
            "offset",
            [param("a", _D), param("c", _D, kind="optional")],
            [param("y", _D)],
            shape_rule="same(a)",
            gradient="offset_grad",
        ),
        metadef(
            "offset_grad",
            [param("a", _D), param("grad_y", _D)],
            [param("grad_a", _D), param("grad_c", _D, kind="optional")],
            shape_rule="forward",
            gradient={
                "op": "offset_third",
                "inputs": ["a", "grad_y", "grad_grad_a", "grad_grad_c"],
                "outputs": ["a", "grad_y"],
            },
        ),
        metadef(
            "offset_third",
            [param(each, _D) for each in ("a", "g", "ga", "gc")],
            [param("da", _D), param("dg", _D)],
            shape_rule="same(a, g)",
        ),
    ],
    HEADER
    + """
#include <math.h>

using In = View<const double>;
using Out = View<double>;

void Product(In a, In b, Out y) {
  for (int64_t i = 0; i < a.Size(); ++i) y.Data()[i] = a.Data()[i] * b.Data()[i];
}
void ProductGrad(In a, In b, In g, Out da, Out db) {
  for (int64_t i = 0; i < a.Size(); ++i) {
    if (da) da.Data()[i] = g.Data()[i] * b.Data()[i];
    if (db) db.Data()[i] = g.Data()[i] * a.Data()[i];
  }
}
void ProductThird(In a, In b, In g, In ga, In gb, Out da, Out db, Out dg) {
  for (int64_t i = 0; i < a.Size(); ++i) {
    const double p = ga ? ga.Data()[i] : 0;
    const double q = gb ? gb.Data()[i] : 0;
    da.Data()[i] = q * g.Data()[i];
    db.Data()[i] = p * g.Data()[i];
    dg.Data()[i] = p * b.Data()[i] + q * a.Data()[i];
  }
}
OPWRIGHT_FUNCTION(product, Product)
OPWRIGHT_FUNCTION(product_grad, ProductGrad)
OPWRIGHT_FUNCTION(product_third, ProductThird)
OPWRIGHT_FUNCTION(product_absent, Product)
OPWRIGHT_FUNCTION(product_absent_grad, ProductGrad)
OPWRIGHT_FUNCTION(product_absent_third, ProductThird)

// y = exp(a) b, whose gradient is read again by the second one.
void Growth(In a, In b, Out y) {
  for (int64_t i = 0; i < a.Size(); ++i) y.Data()[i] = exp(a.Data()[i]) * b.Data()[i];
}
void GrowthGrad(In a, In b, In g, Out da, Out db) {
  for (int64_t i = 0; i < a.Size(); ++i) {
    if (da) da.Data()[i] = g.Data()[i] * exp(a.Data()[i]) * b.Data()[i];
    if (db) db.Data()[i] = g.Data()[i] * exp(a.Data()[i]);
  }
}
void GrowthThird(In a, In b, In g, In grad_b, In ga, In gb, Out da, Out db, Out dg) {
  for (int64_t i = 0; i < a.Size(); ++i) {
    const double both = (ga.Data()[i] * b.Data()[i] + gb.Data()[i]) * grad_b.Data()[i];
    da.Data()[i] = both;
    db.Data()[i] = ga.Data()[i] * grad_b.Data()[i];
    dg.Data()[i] = both / g.Data()[i];
  }
}
OPWRIGHT_FUNCTION(growth, Growth)
OPWRIGHT_FUNCTION(growth_grad, GrowthGrad)
OPWRIGHT_FUNCTION(growth_third, GrowthThird)

// y = a^2, and c where it is given, of which there is one number.
void Offset(In a, In c, Out y) {
  for (int64_t i = 0; i < a.Size(); ++i)
    y.Data()[i] = a.Data()[i] * a.Data()[i] + (c ? c.Data()[0] : 0);
}
void OffsetGrad(In a, In g, Out da, Out dc) {
  if (dc) dc.Data()[0] = 0;
  for (int64_t i = 0; i < a.Size(); ++i) {
    da.Data()[i] = 2 * a.Data()[i] * g.Data()[i];
    if (dc) dc.Data()[0] += g.Data()[i];
  }
}
void OffsetThird(In a, In g, In ga, In gc, Out da, Out dg) {
  for (int64_t i = 0; i < a.Size(); ++i) {
    da.Data()[i] = 2 * g.Data()[i] * ga.Data()[i];
    dg.Data()[i] = 2 * a.Data()[i] * ga.Data()[i] + gc.Data()[0];
  }
}
OPWRIGHT_FUNCTION(offset, Offset)
OPWRIGHT_FUNCTION(offset_grad, OffsetGrad)
OPWRIGHT_FUNCTION(offset_third, OffsetThird)
""",
)
