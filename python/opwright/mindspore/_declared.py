# SPDX-License-Identifier: Apache-2.0
"""out_shape and out_dtype, in all the forms that MindSpore and its users write."""

from __future__ import annotations

import numpy as np
from mindspore.common import dtype as mstype

from opwright import _errors
from opwright._dtypes import name_of
from opwright.mindspore._abstract import is_known

Shapes = tuple[list[int], ...]


def _is_shape(value) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(dim, (int, np.integer)) and not isinstance(dim, bool) for dim in value
    )


def shapes(op: str, value, where: str = "out_shape") -> Shapes:
    """One list for each output: of [8], of ([8], [2, 2])."""
    made = None
    if _is_shape(value) and not (isinstance(value, tuple) and not value):
        made = (list(map(int, value)),)
    elif value == ():
        made = ([],)
    elif isinstance(value, (list, tuple)) and value and all(map(_is_shape, value)):
        made = tuple(list(map(int, shape)) for shape in value)
    if made is not None and all(dim >= 0 for shape in made for dim in shape):
        return made
    if made is not None:
        raise _errors.make(
            "CL020",
            f"{op}: {where} is {value!r}; its dimensions are due, which are not negative: where "
            "they follow from the inputs, a function of the inputs' shapes, out_shape=lambda x: x",
        )
    raise _errors.make(
        "CL020",
        f"{op}: {where} is {value!r}; a shape such as [8] is due, or a tuple of shapes for several "
        "outputs",
    )


def dtypes(op: str, value, where: str = "out_dtype") -> tuple:
    """One TensorType for each output: of float32, of [float32], of (float32, int32)."""
    given = (value,) if isinstance(value, mstype.Type) else value
    if (
        isinstance(given, (list, tuple))
        and given
        and all(isinstance(d, mstype.Type) for d in given)
    ):
        return tuple(d if isinstance(d, mstype.TensorType) else mstype.TensorType(d) for d in given)
    named = given if isinstance(given, (list, tuple)) else (given,)
    meant = [f"mindspore.{_known(each)}" for each in named if _known(each)]
    due = ", ".join(meant) if len(meant) == 1 else f"({', '.join(meant)})"
    raise _errors.make(
        "CL020",
        f"{op}: {where} is {_words(value)}; a mindspore dtype is due"
        + (f": {due}" if meant else ", or a tuple of them for several outputs"),
    )


def _known(value) -> str:
    """The name of MindSpore's dtype that the dtype of another library stands for, or its text."""
    if isinstance(value, mstype.Type):
        value = value.element_type() if isinstance(value, mstype.TensorType) else value
    elif not _is_others_dtype(value) and not isinstance(value, str):
        return ""
    name = {"bool": "bool_"}.get(name_of(value), name_of(value))
    return name if isinstance(getattr(mstype, name, None), mstype.Type) else ""


def _is_others_dtype(value) -> bool:
    """numpy.float32, numpy.dtype("float32"), torch.float32, float."""
    if isinstance(value, type):
        return issubclass(value, (np.generic, int, float))
    return isinstance(value, np.dtype) or str(value).startswith("torch.")


def _words(value) -> str:
    if isinstance(value, (list, tuple)):
        items = ", ".join(map(_words, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, type):
        module = "" if value.__module__ == "builtins" else f"{value.__module__}."
        return f"{module}{value.__name__}"
    return f"{value}" if isinstance(value, mstype.Type) else f"{value!r}"


def is_function(value) -> bool:
    """Whether it is called for each call; a dtype can be called too."""
    return callable(value) and not isinstance(value, mstype.Type) and not _is_others_dtype(value)


def settle(op: str, value, arguments, key: str):
    """out_shape ("shape") or out_dtype ("dtype") for these arguments of __infer__; functions are
    called."""
    where = f"what the function out_{key} returned" if is_function(value) else f"out_{key}"
    value = _value_of(op, value, arguments, key)
    return (shapes if key == "shape" else dtypes)(op, value, where)


def compare(op: str, declared: tuple, arguments, shapes, dtypes) -> None:
    """CL020 where what the user declares is not what the operator's metadef says."""
    for key, value, due in (("shape", declared[0], shapes), ("dtype", declared[1], dtypes)):
        if value is None or (key == "shape" and not all(map(is_known, due))):
            continue
        told = settle(op, value, arguments, key)
        if list(told) != list(due):
            raise _errors.make(
                "CL020",
                f"{op}: out_{key} says {_list_words(told)}, by its metadef the output is "
                f"{_list_words(due)}; leave out_{key} out",
            )


def _list_words(values) -> str:
    texts = [
        str(each.element_type() if isinstance(each, mstype.TensorType) else each) for each in values
    ]
    return texts[0] if len(texts) == 1 else "(" + ", ".join(texts) + ")"


def _value_of(op: str, value, arguments, key: str):
    if not is_function(value):
        return value
    given = [argument[key] for argument in arguments]
    try:
        return value(*given)
    except Exception as error:
        text = ", ".join(map(str, given))
        raise _errors.make(
            "CL020", f"{op}: the function out_{key} failed for ({text}): {error}"
        ) from error


def is_tuple_of_one(op: str, declared: tuple, arguments) -> bool:
    """Whether one output is declared by two tuples of one: MindSpore makes a tuple of it then, and
    of out and dout for the bprop. Of lists it makes this or that by the mode; ours are bare."""
    shape, dtype = declared
    if shape is None or dtype is None:
        return False
    return _holds_dtype(_value_of(op, dtype, arguments, "dtype")) and _holds_shape(
        _value_of(op, shape, arguments, "shape")
    )


def may_be_tuple_of_one(declared: tuple) -> bool:
    """The same while functions are not called yet."""
    shape, dtype = declared
    return (is_function(shape) or _holds_shape(shape)) and (
        is_function(dtype) or _holds_dtype(dtype)
    )


def _holds_dtype(value) -> bool:
    return isinstance(value, tuple) and len(value) == 1


def _holds_shape(value) -> bool:
    return isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], (list, tuple))


def said(declared: tuple, arguments) -> tuple | None:
    """What out_shape and out_dtype say now, unjudged; None where a function fails."""
    try:
        return tuple(
            _fixed(value(*[argument[key] for argument in arguments]))
            if is_function(value)
            else None
            for value, key in zip(declared, ("shape", "dtype"), strict=True)
        )
    except Exception:
        return None


def _fixed(value):
    """Lists may change later."""
    return tuple(map(_fixed, value)) if isinstance(value, (list, tuple)) else value


def check_constants(op: str, out_shape, out_dtype) -> None:
    """What is wrong in a form that needs no call to be judged."""
    check_counts(op, _counts(op, out_shape, out_dtype))


def count_of(op: str, out_shape, out_dtype) -> int:
    """Of the outputs; 1 where only a call says it."""
    return next(iter(_counts(op, out_shape, out_dtype).values()), 1)


def _counts(op: str, out_shape, out_dtype) -> dict[str, int]:
    counts = {}
    if out_shape is not None and not is_function(out_shape):
        counts["out_shape"] = len(shapes(op, out_shape))
    if out_dtype is not None and not is_function(out_dtype):
        counts["out_dtype"] = len(dtypes(op, out_dtype))
    return counts


def check_counts(op: str, counts: dict[str, int]) -> None:
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise _errors.make("CL020", f"{op}: outputs are declared by {text}; the counts must agree")
