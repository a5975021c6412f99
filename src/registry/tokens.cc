// SPDX-License-Identifier: Apache-2.0
#include "registry/tokens.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/sha256.h"
#include "base/text.h"

namespace opwright {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<int64_t, std::shared_ptr<Operator>> operators;
};

Table& TheTable() {
  static Table* const table = new Table;  // calls may come until the process ends
  return *table;
}

std::string Describe(const Operator& op) {
  return StrCat(op.library().identity(), " ", op.name(), " ", op.has_metadef() ? op.def().json : "",
                "\n");
}

}  // namespace

int64_t TokenOf(const std::shared_ptr<Operator>& op) {
  std::string text = Describe(*op);
  if (op->backward() != nullptr) text += Describe(*op->backward());
  const std::string digest = Sha256Hex(text);
  const auto token = static_cast<int64_t>(std::stoull(digest.substr(0, 15), nullptr, 16));
  Table& table = TheTable();
  const std::unique_lock lock(table.mutex);
  table.operators[token] = op;
  return token;
}

std::shared_ptr<Operator> FindByToken(int64_t token) {
  Table& table = TheTable();
  const std::shared_lock lock(table.mutex);
  const auto found = table.operators.find(token);
  return found == table.operators.end() ? nullptr : found->second;
}

}  // namespace opwright
