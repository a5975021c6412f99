// SPDX-License-Identifier: Apache-2.0
//
// What every host of this project does alike: memory and messages. Threads are each one's own.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace opwright::host {

// Aligned to 64 bytes, as the interface promises to kernels.
inline void* Allocate(void*, size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }
inline void Release(void*, void* memory, size_t) { free(memory); }
inline void Log(void*, int32_t, const char* message) { fprintf(stderr, "opwright: %s\n", message); }

}  // namespace opwright::host
