# SPDX-License-Identifier: Apache-2.0
"""What a rule's helpers do with the tensors that it gives them, static and class methods among
them, and names that stand for tensors later on."""

import pytest
from calls import check_product, check_refused
from mindspore import ops

from opwright.mindspore import Custom


def with_a_dict(a, b):
    both = {"a": a, "b": b}
    return both["a"] * both["b"]


def with_a_dict_that_is_filled(a, b):
    made = {}
    made["product"] = a * b
    return made["product"]


def by_another(a, b):
    return with_a_dict(a * 1, b)


def asks_for_the_type(a, b):
    return a * b if type(a) is not int else b


class Products:
    @staticmethod
    def static(a, b):
        return a * b

    @staticmethod
    def tries(a, b):
        try:
            return a * b
        finally:
            pass

    @classmethod
    def of_class(cls, a, b):
        return a * b

    def keeps(self, a, b):
        both = {"a": a, "b": b}
        return both["a"] * both["b"]

    def by_static(self, x, y, out, dout):
        return self.static(dout, y), dout * x

    def by_trying(self, x, y, out, dout):
        return self.tries(dout, y), dout * x

    def by_class(self, x, y, out, dout):
        return self.of_class(dout, y), dout * x

    def by_method(self, x, y, out, dout):
        return self.keeps(dout, y), dout * x


PRODUCTS = Products()


def gives_a_dict(x, y, out, dout):
    return with_a_dict(dout, y), dout * x


def gives_a_dict_that_is_filled(x, y, out, dout):
    return with_a_dict_that_is_filled(dout, y), dout * x


def gives_it_on(x, y, out, dout):
    return by_another(dout, y), dout * x


def gives_a_type(x, y, out, dout):
    return asks_for_the_type(dout, y), dout * x


def fills_a_dict(x, y, out, dout):
    grads = dict()
    grads["x"] = dout * y
    return grads["x"], dout * x


def by_a_static_method(x, y, out, dout):
    return Products.tries(dout, y), dout * x


def by_a_static_method_of_an_object(x, y, out, dout):
    return PRODUCTS.tries(dout, y), dout * x


def by_a_class_method(x, y, out, dout):
    return Products.of_class(dout, y), dout * x


def by_a_class_method_of_an_object(x, y, out, dout):
    return dout * y, PRODUCTS.of_class(dout, x)


def an_attribute_in_a_dict(x, y, out, dout, alpha):
    alpha = alpha * dout
    grads = {"x": alpha * y}
    return grads["x"], dout * x


def an_attribute_by_keyword(x, y, out, dout, alpha):
    alpha = alpha * dout
    return ops.mul(y, other=alpha), dout * x


A_DICT = r"has a dict of tensors at line \d+, .*; give each a name of its own"
CLASS_METHOD = r"calls the class method of_class at line \d+, .*; make it a static method"
REFUSED = {
    gives_a_dict: "calls with_a_dict, which " + A_DICT,
    gives_a_dict_that_is_filled: "calls with_a_dict_that_is_filled, which " + A_DICT,
    gives_it_on: "calls with_a_dict, which " + A_DICT,
    gives_a_type: r"calls asks_for_the_type, which calls type with a in it at line \d+",
    fills_a_dict: A_DICT,
    by_a_static_method: r"calls tries, which has try at line",
    by_a_static_method_of_an_object: r"calls tries, which has try at line",
    PRODUCTS.by_trying: r"calls tries, which has try at line",
    PRODUCTS.by_method: "calls keeps, which " + A_DICT,
    by_a_class_method: CLASS_METHOD,
    by_a_class_method_of_an_object: CLASS_METHOD,
    PRODUCTS.by_class: CLASS_METHOD,
    an_attribute_in_a_dict: A_DICT,
    an_attribute_by_keyword: r"gives a tensor by keyword \(other=\) at line \d+",
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: rule.__name__)
def test_what_a_graph_cannot_compile_is_refused_in_every_mode(built, rule):
    check_refused(built, rule, REFUSED[rule])


def gives_numbers(x, y, out, dout):
    return dout * y * with_a_dict(1, 1.0), dout * x * asks_for_the_type(1.0, 1)


def fills_a_dict_with_sizes(x, y, out, dout):
    facts = {}
    facts["shape"] = x.shape
    return ops.reshape(dout * y, facts["shape"]), dout * x


def by_static_methods(x, y, out, dout):
    return Products.static(dout, y), PRODUCTS.static(dout, x)


def in_a_branch_that_is_dropped(x, y, out, dout):
    if x.ndim == 7:
        return Products.of_class(dout, y), with_a_dict(dout, x)
    return dout * y, dout * x


def an_attribute_before_and_after(x, y, out, dout, alpha):
    grad = ops.clamp(dout * y, max=alpha * 1e30)
    facts = {"alpha": alpha}
    alpha = alpha * dout
    return grad * facts["alpha"], alpha * x


TAKEN = (
    PRODUCTS.by_static,
    gives_numbers,
    fills_a_dict_with_sizes,
    by_static_methods,
    in_a_branch_that_is_dropped,
    an_attribute_before_and_after,
)


@pytest.mark.parametrize("rule", TAKEN, ids=lambda rule: rule.__name__)
def test_what_every_mode_compiles_is_no_less(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))
