# SPDX-License-Identifier: Apache-2.0
"""python -m metadef.validator FILE...: every problem of the metadefs, each with line and column.

Exit code 0: right; 1: errors; 2: a file cannot be read.
"""

from opwright_acl import start

if __name__ == "__main__":
    start("opwright", "validate")
