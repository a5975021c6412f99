# SPDX-License-Identifier: Apache-2.0
"""The exceptions: one tree, an exception type for each area of error ids."""

from __future__ import annotations


class Error(RuntimeError):
    """Anything that goes wrong in Opwright.

    `code` is the stable id ("CL002"); `diagnostics` is a list of dicts with id, severity, file,
    line, column, message, hint and text, for errors in files; empty otherwise.
    """

    code: str = ""
    diagnostics: list[dict]

    def __init__(self, message: str, code: str = "", diagnostics: list[dict] | None = None):
        super().__init__(message)
        self.code = code
        self.diagnostics = diagnostics or []

    def __reduce__(self):
        return type(self), (self.args[0], self.code, self.diagnostics)


class MetadefError(Error, ValueError):
    """MD: a metadef is wrong."""


class BuildError(Error):
    """BD: sources do not become a library."""


class LoadError(Error):
    """LD: a library cannot be loaded."""


class RegistryError(Error):
    """RG: a registration is incomplete or contradicts another."""


class CallError(Error):
    """CL: a call is wrong, or the kernel failed in it."""


class DTypeError(CallError, TypeError):
    """CL002, CL003, CL006, CL013, CL015, CL021: dtypes, attribute types or frameworks that do not
    fit."""


class ShapeError(CallError, ValueError):
    """CL001, CL004, CL005, CL008, CL020, CL022: numbers of tensors or shapes that do not fit."""


class GradientError(Error):
    """GR: a gradient is missing or not what is due."""


class FormulaError(Error):
    """EX: a formula is not supported."""


class CheckError(Error):
    """CK: a check could not be made."""


class CacheError(Error):
    """CA: the cache cannot be used."""


class InternalError(Error):
    """IN: a defect of Opwright itself."""


_BY_AREA = {
    "MD": MetadefError,
    "BD": BuildError,
    "LD": LoadError,
    "RG": RegistryError,
    "CL": CallError,
    "GR": GradientError,
    "EX": FormulaError,
    "CK": CheckError,
    "CA": CacheError,
    "IN": InternalError,
}
_BY_CODE = {
    **dict.fromkeys(("CL002", "CL003", "CL006", "CL013", "CL015", "CL021"), DTypeError),
    **dict.fromkeys(("CL001", "CL004", "CL005", "CL008", "CL020", "CL022"), ShapeError),
}


def make(code: str, message: str, diagnostics: list[dict] | None = None) -> Error:
    """The exception for an error id; the message holds the id already or gets it."""
    kind = _BY_CODE.get(code) or _BY_AREA.get(code[:2], Error)
    return kind(_with_code(code, message), code, diagnostics)


def _with_code(code: str, message: str) -> str:
    return message if not code or f"[{code}]" in message else f"{message} [{code}]"


# Of the adapters: whether their framework traces what runs now.
tracers: list = []


def refuse(code: str, text: str):
    """Raises the error. A tracer cannot make ours: it shows the words of a plain one, or calls
    again without tracing."""
    for is_tracing in tracers:
        if is_tracing():
            raise TypeError(_with_code(code, text))
    raise make(code, text)
