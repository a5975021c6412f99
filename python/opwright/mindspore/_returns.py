# SPDX-License-Identifier: Apache-2.0
"""A rule whose branches return different things: PyNative mode meets the wrong one only where it is
taken, and compiled modes join them in MindSpore's words. It is refused in every mode."""

from __future__ import annotations

import ast

from opwright import _errors
from opwright.mindspore import _rule_source as source
from opwright.mindspore._tensors import Tensors


def refuse_unlike(op: str, rule, count: int, one_output: bool, attrs: tuple[str, ...] = ()) -> None:
    """GR003 for a return of the rule that is surely no tuple of `count`, where another one is.

    one_output: out and dout are tensors; else they may be tuples. attrs: parameters that are
    attributes.
    """
    code = source.code_of(rule)
    if code is None:
        return
    tree = source.tree_of(code.function)
    definition = source.definition_of(tree)
    if not isinstance(definition, ast.FunctionDef):
        return
    names = [name for name in code.parameters if name not in attrs]
    known = Tensors(code, tree, names[: count + 2 if one_output else count])
    answers = [
        (answer, node.lineno)
        for node in known.nodes
        if isinstance(node, ast.Return)
        for answer in _answers(node.value, known)
    ]
    if not any(_length(answer) == count for answer, _ in answers):
        return
    wrong = [
        (what, f"at line {line}")
        for answer, line in answers
        if (what := _unlike(answer, count, known)) is not None
    ]
    if line := _falls_off(definition.body, known):
        wrong.append(("nothing", f"where the condition at line {line} leads to its end"))
    if wrong:
        due = "a tuple of one" if count == 1 else f"a tuple of {count}"
        what, where = wrong[0]
        raise _errors.make(
            "GR003",
            f"{op}: the bprop {code.name} returns {what} {where} and {due}, "
            "which is due, elsewhere; return one gradient for each input in every branch"
            + ("" if count != 1 else ", with the comma: `return (grad,)`"),
        )


def _answers(value: ast.expr | None, known: Tensors) -> list[ast.expr | None]:
    """What one return may give; of a condition that compiled modes decide, they take one."""
    if isinstance(value, ast.IfExp) and known.by_values(value.test):
        return _answers(value.body, known) + _answers(value.orelse, known)
    return [value]


def _unlike(answer: ast.expr | None, count: int, known: Tensors) -> str | None:
    """What is no tuple of `count`, in words."""
    length = _length(answer)
    if length is not None:
        return None if length == count else f"{length} gradient{'s' if length != 1 else ''}"
    if _is_none(answer):
        return "nothing"
    if isinstance(answer, ast.List):
        return "a list"
    return "a bare tensor" if known.sure(answer) else None


def _falls_off(body: list[ast.stmt], known: Tensors) -> int | None:
    """The line of a condition on values of which one branch returns and the other comes to the
    end of the rule."""
    for k, statement in enumerate(body):
        if not (isinstance(statement, ast.If) and known.by_values(statement.test)):
            continue
        if any(map(source.may_leave, body[:k] + body[k + 1 :])):
            return None
        for branch, other in (
            (statement.body, statement.orelse),
            (statement.orelse, statement.body),
        ):
            if branch and isinstance(branch[-1], ast.Return):
                if not any(map(source.may_leave, other)):
                    return statement.test.lineno
                return _falls_off(other, known)
    return None


def _length(value: ast.expr | None) -> int | None:
    """Of a tuple that is written out."""
    if not isinstance(value, ast.Tuple) or any(isinstance(e, ast.Starred) for e in value.elts):
        return None
    return len(value.elts)


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
