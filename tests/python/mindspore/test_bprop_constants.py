# SPDX-License-Identifier: Apache-2.0
"""What compiled modes leave to Python: refused at once where a tensor's name is in it, be it for
the shape; with a name of the sizes it is right in every mode."""

import copy

import pytest
from calls import check_product, check_refused
from mindspore import ops

from opwright.mindspore import Custom


def sorts(x, y, out, dout):
    sizes = sorted(x.shape)
    return dout * y * (sizes[0] / 2), dout * x


def sorts_what_a_helper_makes(x, y, out, dout):
    sizes = sorted(shape_of(x))
    return dout * y * (sizes[0] / 2), dout * x


def shape_of(a):
    return a.shape


def divides(x, y, out, dout):
    half, _ = divmod(x.shape[0], 2)
    return dout * y * half, dout * x


def makes_a_set(x, y, out, dout):
    return dout * y * (len(set(x.shape)) / 2), dout * x


def any_of(x, y, out, dout):
    if any(size == 7 for size in x.shape):
        return dout, dout
    return dout * y, dout * x


def all_of(x, y, out, dout):
    assert all([x.ndim == 2, y.ndim == 2])
    return dout * y, dout * x


def asks_for_the_type(x, y, out, dout):
    scale = 1 if type(x.shape) is tuple else 2
    return dout * y * scale, dout * x


def formats(x, y, out, dout):
    print("%d" % x.ndim)  # noqa: UP031
    return dout * y, dout * x


def sorts_names_of_a_comprehension(x, y, out, dout):
    return dout * y * sorted([x for x in (2, 1)])[0], dout * x


def takes_the_next(x, y, out, dout):
    return dout * y * (next(iter(x.shape)) / 2), dout * x


def copies(x, y, out, dout):
    return copy.copy(dout) * y, dout * x


def copies_a_list(x, y, out, dout):
    grads = copy.deepcopy([dout * y, dout * x])
    return grads[0], grads[1]


def goes_by_an_item(x, y, out, dout):
    if x.max().item() > 100:
        return dout, dout
    return dout * y, dout * x


def goes_by_a_name(x, y, out, dout):
    total = float(x.sum())
    return (dout, dout) if total > 100 else (dout * y, dout * x)


def goes_by_a_bool(x, y, out, dout):
    grad = dout * y
    while bool((x > 100).all()):
        grad = grad * 2
    return grad, dout * x


def asserts_an_item(x, y, out, dout):
    assert not 2 * x.sum().item() < y.sum().item() - 100
    return dout * y, dout * x


SIZES = r" with x in it at line {0}, .*; bind the sizes to a name first \(sizes = x\.shape\)"
NUMBER = (
    r"goes by a Python number that a tensor's values make at line {0}, "
    r".*; test the tensor itself, as in x\.sum\(\) > 0"
)
REFUSED = {
    sorts: r"calls sorted" + SIZES,
    sorts_what_a_helper_makes: r"calls sorted" + SIZES,
    sorts_names_of_a_comprehension: r"calls sorted with x in it at line {0}",
    divides: r"calls divmod" + SIZES,
    makes_a_set: r"calls set" + SIZES,
    any_of: r"calls any" + SIZES,
    all_of: r"calls all" + SIZES,
    asks_for_the_type: r"calls type with x in it at line {0}, .*; write isinstance",
    formats: r"formats a text by % with x in it at line {0}, .*; write an f-string",
    takes_the_next: r"calls next at line {0}, .*; take the item by its index",
    copies: r"copies a tensor by copy at line {0}, .*; take the tensor itself",
    copies_a_list: r"copies a tensor by deepcopy at line {0}, .*; take the tensor itself",
    goes_by_an_item: NUMBER,
    goes_by_a_name: NUMBER,
    goes_by_a_bool: NUMBER,
    asserts_an_item: NUMBER,
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: rule.__name__)
def test_what_is_no_part_of_a_graph_is_refused_in_every_mode(built, rule):
    line = rule.__code__.co_firstlineno + (2 if rule in (goes_by_a_name, goes_by_a_bool) else 1)
    check_refused(built, rule, REFUSED[rule].format(line))


def of_sizes(x, y, out, dout):
    sizes, rank = x.shape, x.ndim
    turned = tuple(sorted(sizes, reverse=True))
    half, rest = divmod(sizes[0], 2)
    if any(size == 7 for size in sizes) or not all([size > 1 for size in sizes]):
        return dout, dout
    if rest or type(sizes) is not tuple:
        return dout, dout
    print("%d" % rank)  # noqa: UP031
    grad = ops.reshape(ops.reshape(dout * y, turned), sizes)
    return grad * half * (len(set(sizes)) / 2), dout * x


def of_constants(x, y, out, dout):
    scales = sorted((2, 1))
    if any([False, False]) or type(scales) is not list or 3 in set((1, 2)):
        return dout, dout
    return dout * y * scales[0] * divmod(2, 2)[0], dout * x


def copies_sizes(x, y, out, dout):
    sizes = copy.copy(x.shape)
    return ops.reshape(dout * y, copy.deepcopy(sizes)), dout * x


def in_frozensets_and_texts(x, y, out, dout):
    name = f"{x.shape[0]} {x.ndim}"
    if 7 in frozenset(x.shape) or 7 in x.shape or name == "7 2":
        return dout, dout
    return dout * y, dout * x


def of_a_name_bound_again(x, y, out, dout):
    grad_x, grad_y = dout * y, dout * x
    x = x.shape
    sizes = sorted(x)
    return grad_x * (sizes[0] / 2), grad_y


def by_values(x, y, out, dout):
    scale = dout * (x.sum().item() / x.sum().item())
    if (scale > 1e9).all() or x.sum() > 1e9 or x.sum().item() > y.sum() + 1e9:
        return dout, dout
    return dout * y * (float(x.sum()) / float(x.sum())), scale * x


def by_attributes(x, y, out, dout, alpha):
    half = sorted([alpha, 2.0])[0] / 2
    if float(alpha) > 7 or any([alpha == 7]) or int(x.shape[0] / 2) == 7:
        return dout, dout
    return dout * y * half * 2, dout * x


def by_a_number_that_goes_on(x, y, out, dout, alpha):
    count = 2 * 2 - 1
    while count > 0:
        count = count - 1
    alpha = -alpha
    if alpha > 7:
        return dout, dout
    return dout * y, dout * x


def in_a_branch_that_is_dropped(x, y, out, dout):
    if x.ndim == 7 and any(x.shape):
        return dout * sorted(x.shape)[0], dout * x.sum().item()
    return dout * y, dout * x


TAKEN = (
    of_sizes,
    of_constants,
    copies_sizes,
    in_frozensets_and_texts,
    of_a_name_bound_again,
    by_values,
    by_attributes,
    by_a_number_that_goes_on,
    in_a_branch_that_is_dropped,
)


@pytest.mark.parametrize("rule", TAKEN)
def test_what_every_mode_compiles_is_no_less(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))
