# SPDX-License-Identifier: Apache-2.0
"""Opwright: custom operators with right gradients in every training framework."""

from opwright._core import version as _version

__version__ = _version()
