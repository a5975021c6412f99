# SPDX-License-Identifier: Apache-2.0
"""A cache of the session's own, for the pages' processes too."""

import os
import tempfile

_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name
