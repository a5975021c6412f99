# SPDX-License-Identifier: Apache-2.0
"""`python -m opwright` is the command line."""

from opwright._cli import main

main()
