# SPDX-License-Identifier: Apache-2.0
"""Names of dtypes, whatever framework's object says them."""

from __future__ import annotations

import numpy as np


def name_of(dtype) -> str:
    """ "float32" of numpy's, torch's or MindSpore's dtype, of a type or a string."""
    if isinstance(dtype, str):
        return dtype
    text = str(dtype)
    if text.startswith("torch."):
        return text[len("torch.") :]
    if isinstance(dtype, (type, np.dtype)):
        return np.dtype(dtype).name
    name = getattr(dtype, "name", None)
    return name if isinstance(name, str) else text.lower()
