# SPDX-License-Identifier: Apache-2.0
"""The device: there is one, 0, the CPU."""

from __future__ import annotations

from acl._registry import require_init
from acl._words import coded
from opwright._errors import make


@coded
def set_device(device_id: int) -> int:
    """Chooses the device, which is 0."""
    _check("acl.rt.set_device", device_id)
    return 0


@coded
def reset_device(device_id: int) -> int:
    """Gives the device up; there is nothing to free."""
    _check("acl.rt.reset_device", device_id)
    return 0


def _check(call: str, device_id: int) -> None:
    if not isinstance(device_id, int) or isinstance(device_id, bool):
        raise TypeError(f"{call}: device_id is an int, {type(device_id).__name__} was given")
    require_init(call)
    if device_id != 0:
        raise make(
            "RG008", f"{call}: there is no device {device_id}; the CPU is device 0, the only one"
        )
