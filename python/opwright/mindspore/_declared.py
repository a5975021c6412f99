# SPDX-License-Identifier: Apache-2.0
"""out_shape and out_dtype, in all the forms that MindSpore and its users write."""

from __future__ import annotations

from mindspore.common import dtype as mstype

from opwright import _errors

Shapes = tuple[list[int], ...]


def _is_shape(value) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(dim, int) and not isinstance(dim, bool) for dim in value
    )


def shapes(op: str, value, where: str = "out_shape") -> Shapes:
    """One list for each output: of [8], of ([8], [2, 2])."""
    if _is_shape(value) and not (isinstance(value, tuple) and not value):
        return (list(value),)
    if value == ():
        return ([],)
    if isinstance(value, (list, tuple)) and value and all(map(_is_shape, value)):
        return tuple(list(shape) for shape in value)
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
    raise _errors.make(
        "CL020",
        f"{op}: {where} is {value!r}; a mindspore dtype is due, or a tuple of them for several "
        "outputs",
    )


def is_function(value) -> bool:
    """Whether it is called for each call; a dtype of MindSpore can be called too."""
    return callable(value) and not isinstance(value, mstype.Type)


def settle(op: str, value, arguments, key: str):
    """out_shape ("shape") or out_dtype ("dtype") for these arguments of __infer__; functions are
    called."""
    where = f"out_{key}"
    if is_function(value):
        given = [argument[key] for argument in arguments]
        try:
            value = value(*given)
        except Exception as error:
            text = ", ".join(map(str, given))
            raise _errors.make(
                "CL020", f"{op}: the function {where} failed for ({text}): {error}"
            ) from error
        where = f"what the function {where} returned"
    return (shapes if key == "shape" else dtypes)(op, value, where)


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
    counts = {}
    if out_shape is not None and not is_function(out_shape):
        counts["out_shape"] = len(shapes(op, out_shape))
    if out_dtype is not None and not is_function(out_dtype):
        counts["out_dtype"] = len(dtypes(op, out_dtype))
    check_counts(op, counts)


def check_counts(op: str, counts: dict[str, int]) -> None:
    if len(set(counts.values())) > 1:
        text = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise _errors.make("CL020", f"{op}: outputs are declared by {text}; the counts must agree")
