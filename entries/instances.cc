// SPDX-License-Identifier: Apache-2.0
#include "entries/instances.h"

#include "runtime/instance.h"

namespace opwright::entries {

Expected<void*> KernelInstance(int32_t index) {
  // Never freed: calls may come until the process ends.
  static auto* const instances = new LazyInstance[static_cast<size_t>(opwright_stub.num_operators)];
  const OpwrightOperatorEntry& entry = *opwright_stub.operators[index].entry;
  return instances[index].Get(entry, entry.kernel->name);
}

}  // namespace opwright::entries
