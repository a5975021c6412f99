// SPDX-License-Identifier: Apache-2.0
//
// The version of the file that this is part of, for `opwright doctor`, which reads it as text.
// Nothing refers to it, so that operator libraries do not carry it.

extern const char opwright_part_version[];
[[gnu::used]] const char opwright_part_version[] = "opwright part of version " OPWRIGHT_VERSION;
