# SPDX-License-Identifier: Apache-2.0
"""`python -m metadef.validator FILE...` validates metadefs, as `opwright validate` does."""
