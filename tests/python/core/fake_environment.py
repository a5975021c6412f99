# SPDX-License-Identifier: Apache-2.0
"""Environments for the doctor: folders like those of venv, whose packages are only listed."""

import os
import sys
from pathlib import Path


class Environment:
    """`python` is this Python, which sees the packages of the folder and no others."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.bin = folder / "bin"
        self.packages = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        self.python = self.bin / "python"
        self.bin.mkdir(parents=True)
        self.packages.mkdir(parents=True)
        program = Path(os.path.realpath(sys.executable))
        (folder / "pyvenv.cfg").write_text(
            f"home = {program.parent}\ninclude-system-site-packages = false\n"
        )
        self.python.symlink_to(program)

    def install(self, name, version, module=None, text=None):
        """A package in the metadata, with a module that says when somebody imports it."""
        module = module or name
        info = self.packages / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (self.packages / module).mkdir()
        text = text or f"open({str(self.folder / 'imported')!r}, 'a').write({module!r})\n"
        (self.packages / module / "__init__.py").write_text(text)
        return self

    def program(self, name, text="exit 0"):
        return program(self.bin / name, text)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
