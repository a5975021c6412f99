# SPDX-License-Identifier: Apache-2.0
"""What a rule does with tensors, lists of them and its own object. What compiled modes do not take
is refused at once, also in objects, Cells, partials and methods; what every mode compiles is
not."""

import functools
import operator
import types

import mindspore as ms
import numpy as np
import pytest
from calls import check_product, check_refused
from mindspore import nn, ops

import opwright
from opwright.mindspore import Custom

DEBUG = False


def extends(x, y, out, dout):
    grads = []
    grads.extend([dout * y, dout * x])
    return grads[0], grads[1]


def inserts_in_a_loop(x, y, out, dout):
    grads = []
    for each in (x, y):
        grads.insert(0, dout * each)
    return tuple(grads)


def reverses_in_place(x, y, out, dout):
    grads = [ops.mul(dout, x)]
    grads += [dout * y]
    grads.reverse()
    return tuple(grads)


def by_keyword(x, y, out, dout):
    return ops.mul(dout, other=y), dout * x


def by_keyword_of_a_method(x, y, out, dout):
    grad = dout.mul(other=y)
    return grad, dout * x


def product_of(a, b):
    return a * b


def by_keyword_of_a_helper(x, y, out, dout):
    grad = dout * 1
    return product_of(grad, b=y), dout * x


def makes_a_dict(x, y, out, dout):
    made = dict(x=dout * y, y=dout * x)
    return made["x"], made["y"]


def fills_a_dict(x, y, out, dout):
    made = {name: dout * each for name, each in (("x", y), ("y", x))}
    return made["x"], made["y"]


def fills_a_dict_with_functions(x, y, out, dout):
    made = {"by": lambda a: dout * a}
    return made["by"](y), made["by"](x)


def of_numpy(x, y, out, dout):
    return np.multiply(dout, y), dout * x


def pops_a_size(x, y, out, dout):
    sizes = [each for each in x.shape]
    sizes.pop()
    return dout * y, dout * x


def pops_one_of_a_list(x, y, out, dout):
    grads = list(ops.split(dout * y, 1))
    grads.pop()
    return dout * y, dout * x


def popped(shape):
    sizes = [*shape, 1]
    sizes.pop()
    return sizes


def by_a_helper_that_pops(x, y, out, dout):
    return ops.reshape(dout * y, popped(x.shape)), dout * x


def a_helper_that_tries(a):
    try:
        return a * 1
    finally:
        pass


HELPERS = types.ModuleType("helpers")
HELPERS.tries = a_helper_that_tries


def by_a_helper_of_a_module(x, y, out, dout):
    return HELPERS.tries(dout * y), dout * x


def reduces(x, y, out, dout):
    shape = x.shape
    size = functools.reduce(operator.mul, shape)
    return dout * y * (size / size), dout * x


class Keeping:
    def __call__(self, x, y, out, dout):
        self.last = dout
        return dout * y, dout * x


class Scaled:
    def __init__(self):
        self.scale = ms.Parameter(ms.Tensor(2.0), name="scale")

    def rule(self, x, y, out, dout):
        return dout * y * self.scale, dout * x

    def tries(self, x, y, out, dout):
        return self.help(dout, y), dout * x

    def help(self, a, b):
        import math

        return a * b * math.sqrt(1)


class Trying:
    def __call__(self, x, y, out, dout):
        try:
            return dout * y, dout * x
        finally:
            pass


class TryingCell(nn.Cell):
    def construct(self, x, y, out, dout):
        print(dout.asnumpy())
        return dout * y, dout * x


def scaled(scale, x, y, out, dout):
    return dout * y * scale, dout * x


def removes_a_size(x, y, out, dout):
    rest = list(x.shape)
    rest.remove(3)
    return dout * y * len(rest), dout * x


def pops_sizes_in_a_loop(x, y, out, dout):
    sizes = list(x.shape)
    for _ in range(2):
        sizes.pop()
    return dout * y, dout * x


def changes_sizes_twice(x, y, out, dout):
    sizes = list(x.shape)
    sizes.insert(0, 1)
    sizes.reverse()
    return dout * y, dout * x


def both(a, b):
    return [a, b]


def pops_of_a_helpers_list(x, y, out, dout):
    grads = both(dout * x, dout * y)
    first = grads.pop()
    return first, grads[0]


def calls_it(function, x, y, out, dout):
    return function(dout, y), dout * x


REFUSED = {
    removes_a_size: r"calls rest\.remove\(\) at line \d+.*; write rest = ",
    pops_of_a_helpers_list: r"calls grads\.pop\(\) at line",
    changes_sizes_twice: r"calls sizes\.insert\(\) at line",
    pops_sizes_in_a_loop: r"calls sizes\.pop\(\) at line",
    functools.partial(calls_it, lambda a, b: a * b): "a partial, is given a lambda.*with def",
    extends: r"calls grads\.extend\(\) at line \d+.*; write grads = grads \+",
    inserts_in_a_loop: r"calls grads\.insert\(\) at line",
    reverses_in_place: r"calls grads\.reverse\(\) at line",
    pops_a_size: r"calls sizes\.pop\(\) at line \d+.*; write sizes",
    pops_one_of_a_list: r"calls grads\.pop\(\) at line",
    by_a_helper_that_pops: r"calls popped, which calls sizes\.pop\(\) at line",
    by_a_helper_of_a_module: r"calls a_helper_that_tries, which has try at line",
    reduces: r"calls reduce at line \d+.*; write a loop",
    Keeping(): r"bprop Keeping\.__call__ binds self\.last at line",
    by_keyword: r"gives a tensor by keyword \(other=\) at line \d+.*; give it by position",
    by_keyword_of_a_method: r"by keyword \(other=\)",
    by_keyword_of_a_helper: r"by keyword \(b=\)",
    makes_a_dict: r"has a dict of tensors at line \d+.*; give each a name of its own",
    fills_a_dict: r"has a dict of tensors at line",
    fills_a_dict_with_functions: r"has a dict of tensors at line",
    of_numpy: r"calls numpy's multiply on a tensor at line \d+.*; compute with mindspore\.ops",
    Scaled().rule: r"bprop rule uses the Parameter self\.scale, no input of the operator",
    Scaled().tries: r"bprop tries calls help, which has import at line",
    Trying(): r"bprop Trying\.__call__ has try at line",
    TryingCell(): r"bprop TryingCell\.construct uses \.asnumpy\(\)",
    functools.partial(scaled, ms.Parameter(ms.Tensor(2.0))): "a partial, is given a Parameter",
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: getattr(rule, "__name__", "object"))
def test_what_a_graph_cannot_compile_is_refused_in_every_mode(built, rule):
    check_refused(built, rule, REFUSED[rule])


def with_lists(x, y, out, dout):
    sizes = []
    sizes.append(x.shape[0])
    grads = [dout * y] * sizes[0]
    grads.append(dout * x)
    return grads[0], grads[2]


def with_dicts_of_facts(x, y, out, dout):
    facts = {"shape": ops.shape(x), "rank": len(x.shape), "float": x.is_floating_point()}
    more = {"rows": len(x), "rank": ops.rank(x), "n": x.dim(), "two": y.ndim == 2}
    if facts["rank"] != more["rank"]:
        return dout, dout
    return dout * y, dout * x


def with_constants_by_keyword(x, y, out, dout):
    shape = x.shape
    return ops.reshape(dout * y, shape=shape), ops.clamp(dout * x, min=-1e30)


def shown(a):
    if DEBUG:
        print(a.asnumpy())
    return a


def with_a_branch_that_is_off(x, y, out, dout):
    if DEBUG:
        print(dout.asnumpy().max())
    return shown(dout * y), dout * x


def with_a_name_bound_again(x, y, out, dout):
    first, second = dout * y, dout * x
    x = x.shape
    return ops.reshape(first, shape=x), second


def with_names_of_comprehensions(x, y, out, dout):
    sizes = {i: x for i, x in enumerate(out.shape)}
    return dout * y, dout * x * (sizes[0] / sizes[0])


def with_a_branch_by_rank(x, y, out, dout):
    if x.ndim == 7:
        facts = {"dout": dout}
        return facts["dout"], dout
    return dout * y, dout * x


def with_a_helper_that_is_off(x, y, out, dout):
    if DEBUG:
        shows(dout)
    return dout * y, dout * x


def shows(a):
    print(a.asnumpy())


def with_axes(axis, x, y, out, dout):
    named = {"axis": axis}
    return ops.cumsum(dout * y, axis=axis) * 0 + dout * y, dout * x * (1 + named["axis"])


def with_what_it_was_given_bound_again(limit, x, y, out, dout):
    first = ops.clamp(dout * y, max=limit)
    limit = limit * dout
    return first, dout * x + 0 * limit


def with_a_list_of_sizes_bound_again(x, y, out, dout):
    made = list(x.shape)
    made.pop()
    made = [dout * y, dout * x]
    return made[0], made[1]


def with_a_return_in_a_loop(x, y, out, dout):
    for _ in range(1):
        if x.ndim != 7:
            return dout * y, dout * x
        facts = {"dout": dout}
        return facts["dout"], dout


class Quiet:
    debug = False

    def __init__(self):
        self.debug = False

    @property
    def never(self):
        raise AssertionError("a property was asked")

    def rule(self, x, y, out, dout):
        if self.debug:
            print(dout.asnumpy())
        return dout * y, dout * x


def by_rank_or_values(x, y, out, dout):
    if x.ndim == 2 or x.sum() > 0:
        return dout * y, dout * x


def construct(x, y, out, dout):
    return dout * y, dout * x


def with_a_list_of_sizes_that_changes(x, y, out, dout):
    sizes = list(x.shape)
    sizes.reverse()
    return ops.reshape(ops.reshape(dout * y, sizes), x.shape), dout * x


def with_a_helper_that_writes_what_is_its_own(x, y, out, dout):
    return set_first(dout * y), dout * x


def set_first(t):
    t[0] = t[0] * 1.0
    return t


def with_another_name_bound_again(x, y, out, dout):
    grad = dout
    grad = grad * y
    grad[0] = grad[0] * 1.0
    return grad, dout * x


def by_what_a_sum_has(x, y, out, dout):
    grad = None
    if x.sum(0).ndim == 1 and isinstance(x.sum(), ms.Tensor) and len(x.sum(0).shape) == 1:
        grad = dout * y
    return grad, dout * x if x.sum(0).dtype == x.dtype else None


TAKEN = [
    with_a_list_of_sizes_that_changes,
    with_a_helper_that_writes_what_is_its_own,
    with_another_name_bound_again,
    by_what_a_sum_has,
    lambda *given: (given[-1] * given[1], given[-1] * given[0]),
    with_lists,
    with_dicts_of_facts,
    with_constants_by_keyword,
    with_a_branch_that_is_off,
    with_a_name_bound_again,
    with_names_of_comprehensions,
    with_a_branch_by_rank,
    with_a_helper_that_is_off,
    functools.partial(with_axes, 0),
    functools.partial(with_what_it_was_given_bound_again, 1e30),
    with_a_list_of_sizes_bound_again,
    with_a_return_in_a_loop,
    Quiet().rule,
    by_rank_or_values,
    construct,
]


@pytest.mark.parametrize("rule", TAKEN, ids=lambda rule: getattr(rule, "__name__", "partial"))
def test_what_every_mode_compiles_is_no_less(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))


def end_of_the_rule(x, y, out, dout):
    if x.sum() > 0:
        return dout * y, dout * x


def one_of_three(x, y, out, dout):
    if (x > 0).all():
        return dout * y, dout * x
    elif y.max() > 0:
        pass
    else:
        return dout, dout


def conditional(x, y, out, dout):
    return (dout * y, dout * x) if x.sum() > 0 else dout


def conditional_none(x, y, out, dout):
    return (dout * y, dout * x) if x.mean() > 0 else None


def sometimes_a_list(x, y, out, dout):
    if x.sum() > 0:
        return [dout * y, dout * x]
    return dout * y, dout * x


def given(scale, x, y, out, dout):
    if x.sum() > 0:
        return dout * scale
    return dout * y, dout * x


class Unlike:
    def __call__(self, x, y, out, dout):
        if x.sum() > 0:
            return dout
        return dout * y, dout * x


UNLIKE = {
    end_of_the_rule: r"returns nothing where the condition at line \d+ leads to its end",
    one_of_three: r"returns nothing where the condition at line \d+ leads to its end",
    conditional: r"returns a bare tensor at line \d+ and a tuple of 2",
    conditional_none: r"returns nothing at line \d+ and a tuple of 2",
    sometimes_a_list: r"returns a list at line \d+ and a tuple of 2",
    functools.partial(given, 2.0): r"bprop given returns a bare tensor at line",
    Unlike(): r"bprop Unlike\.__call__ returns a bare tensor at line",
}


@pytest.mark.parametrize("rule", UNLIKE, ids=lambda rule: getattr(rule, "__name__", "object"))
def test_branches_by_values_that_return_other_things_are_refused_at_once(built, rule):
    check_refused(built, rule, UNLIKE[rule], "GR003")


def by_rank(x, y, out, dout):
    return dout if x.ndim == 7 else (dout * y, dout * x)


def by_rank_to_the_end(x, y, out, dout):
    if x.ndim == 2:
        return dout * y, dout * x
    elif x.ndim == 3:
        return dout, dout


def by_a_variable(x, y, out, dout):
    grads = None
    if x.ndim == 2:
        grads = (dout * y, dout * x)
    return grads


@pytest.mark.parametrize("rule", [by_rank, by_rank_to_the_end, by_a_variable])
def test_branches_that_a_graph_drops_may_return_anything(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))


def writes_an_input(x, y, out, dout):
    x[0] = 0
    return dout * y, dout * x


def writes_dout_by_another_name(x, y, out, dout):
    g = dout
    g[0] = 0
    return g * y, dout * x


def writes_a_view(x, y, out, dout):
    flat = x.reshape(-1)
    first = y[0]
    first[0] = 0
    flat[0] += 1
    return dout * y, dout * x


def writes_each(x, y, out, dout):
    for each in (x, y):
        each[0] = 0
    return dout * y, dout * x


def zero(t):
    t[0] = 0
    return t


def writes_by_a_helper(x, y, out, dout):
    return zero(dout) * y, dout * x


WRITES = {
    writes_by_a_helper: "t",
    writes_an_input: "x",
    writes_dout_by_another_name: "g",
    writes_a_view: "first",
    writes_each: "each",
}


@pytest.mark.parametrize("rule", WRITES)
def test_a_rule_that_writes_into_what_it_is_given_is_refused(built, rule):  # G09
    words = rf"writes into {WRITES[rule]} at line \d+"
    check_refused(built, rule, words, "GR009")


ORDERS = {
    "dout before out": (lambda x, y, dout, out: (dout, dout), "parameter 3 dout, .* given out"),
    "out first": (lambda out, dout, x, y: (dout, dout), "parameter 1 out, .* given x there"),
    "inputs the other way": (lambda y, x, out, dout: (dout, dout), "parameter 1 y, .* given x"),
}


@pytest.mark.parametrize("rule, words", ORDERS.values(), ids=ORDERS)
def test_names_in_another_order_than_they_are_given_are_refused(built, rule, words):
    library = built("product")
    with pytest.raises(opwright.GradientError, match=words) as caught:
        Custom(library + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == "GR007"
    with pytest.raises(opwright.GradientError, match=words):
        opwright.load(library).product.bprop(rule)


def test_a_class_is_no_rule(built):
    with pytest.raises(opwright.GradientError, match="the class Keeping was given") as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=Keeping)
    assert caught.value.code == "GR007"


def pops_an_attribute(x, out, dout, *, steps):
    steps.pop()
    return (dout,)


def appends_to_a_copy_of_an_attribute(x, out, dout, *, steps):
    made = list(steps)
    made.append(1)
    return (dout,)


def adds_to_an_attribute(x, out, dout, *, steps):
    steps += [1]
    return (dout,)


CHANGING = [pops_an_attribute, appends_to_a_copy_of_an_attribute, adds_to_an_attribute]


@pytest.mark.parametrize("rule", CHANGING)
def test_an_attribute_is_not_changed_by_a_rule(built, rule):
    with pytest.raises(opwright.GradientError, match=r"steps|made") as caught:
        Custom(built("attributes") + ":tell", func_type="aot", bprop=rule)
    assert caught.value.code == "GR020"
