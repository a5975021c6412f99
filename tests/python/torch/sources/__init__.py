# SPDX-License-Identifier: Apache-2.0
"""The operators under test, in groups: each group is (metadefs, source) and becomes one library."""

from sources.effects import effects
from sources.inputs import inputs
from sources.plain import attributes, element_add, elementwise, fused_broadcast
from sources.second import second
from sources.shapes import shapes

GROUPS = {
    "attributes": attributes,
    "effects": effects,
    "element_add": element_add,
    "elementwise": elementwise,
    "fused_broadcast": fused_broadcast,
    "inputs": inputs,
    "second": second,
    "shapes": shapes,
}
