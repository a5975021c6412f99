# SPDX-License-Identifier: Apache-2.0
"""Sphinx: Markdown pages by MyST, the furo theme. README and the like are taken in as they are."""

import re
from pathlib import Path

root = Path(__file__).resolve().parent.parent

project = "Opwright"
copyright = "the Opwright authors"
release = re.search(
    r"project\(Opwright VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()
).group(1)
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = f"Opwright {release}"
myst_heading_anchors = 3
# Links of README.md name files of the repository, which are no pages.
suppress_warnings = ["myst.xref_missing", "myst.header"]
