// SPDX-License-Identifier: Apache-2.0
//
// The only file where a std::string crosses: MindSpore hands it over as GCC 4 had it.
#define _GLIBCXX_USE_CXX11_ABI 0  // NOLINT(bugprone-reserved-identifier)

#include "entries/mindspore/extra.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

static_assert(_GLIBCXX_USE_CXX11_ABI == 0, "MindSpore's strings are those of the old ABI");

namespace opwright::entries {

// The order of MindSpore's virtual functions is the interface. In no unnamed namespace: there the
// compiler would know that nothing is derived from it.
class MindSporeExtra {
 public:
  virtual ~MindSporeExtra() = default;
  virtual bool HasAttr(std::string name) = 0;
  virtual bool GetAttrBool(std::string name) = 0;
  virtual int64_t GetAttrInt(std::string name) = 0;
  virtual float GetAttrFloat(std::string name) = 0;
  virtual std::string GetAttrStr(std::string name) = 0;
  virtual std::vector<int64_t> GetAttrIntVec(std::string name) = 0;
  virtual std::vector<float> GetAttrFloatVec(std::string name) = 0;
  virtual std::vector<std::vector<int64_t>> GetAttrInt2DVec(std::string name) = 0;
  virtual std::vector<std::vector<float>> GetAttrFloat2DVec(std::string name) = 0;
};

static MindSporeExtra& Of(void* extra) { return *static_cast<MindSporeExtra*>(extra); }

struct ExtraReader::Held {
  Held* next;
};

ExtraReader::~ExtraReader() {
  while (held_ != nullptr) {
    Held* next = held_->next;
    free(held_);
    held_ = next;
  }
}

// A copy with a zero byte behind it.
void* ExtraReader::Hold(const void* data, size_t bytes) {
  constexpr size_t kHead = 16;
  auto* held = static_cast<Held*>(malloc(kHead + bytes + 1));
  if (held == nullptr) throw std::bad_alloc();
  held->next = held_;
  held_ = held;
  char* copy = reinterpret_cast<char*>(held) + kHead;
  if (bytes > 0) memcpy(copy, data, bytes);
  copy[bytes] = '\0';
  return copy;
}

bool ExtraReader::Has(const char* name) const {
  return extra_ != nullptr && Of(extra_).HasAttr(name);
}
int64_t ExtraReader::Int(const char* name) const { return Of(extra_).GetAttrInt(name); }
bool ExtraReader::Bool(const char* name) const { return Of(extra_).GetAttrBool(name); }
float ExtraReader::Float(const char* name) const { return Of(extra_).GetAttrFloat(name); }

const char* ExtraReader::String(const char* name, int64_t* size) {
  const std::string value = Of(extra_).GetAttrStr(name);
  *size = static_cast<int64_t>(value.size());
  return static_cast<const char*>(Hold(value.data(), value.size()));
}

const int64_t* ExtraReader::Ints(const char* name, int64_t* size) {
  const std::vector<int64_t> value = Of(extra_).GetAttrIntVec(name);
  *size = static_cast<int64_t>(value.size());
  return static_cast<const int64_t*>(Hold(value.data(), value.size() * sizeof(int64_t)));
}

const float* ExtraReader::Floats(const char* name, int64_t* size) {
  const std::vector<float> value = Of(extra_).GetAttrFloatVec(name);
  *size = static_cast<int64_t>(value.size());
  return static_cast<const float*>(Hold(value.data(), value.size() * sizeof(float)));
}

const int64_t* ExtraReader::IntRows(const char* name) {
  std::vector<int64_t> flat;
  const std::vector<std::vector<int64_t>> rows = Of(extra_).GetAttrInt2DVec(name);
  flat.push_back(static_cast<int64_t>(rows.size()));
  for (const std::vector<int64_t>& row : rows) flat.push_back(static_cast<int64_t>(row.size()));
  for (const std::vector<int64_t>& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return static_cast<const int64_t*>(Hold(flat.data(), flat.size() * sizeof(int64_t)));
}

}  // namespace opwright::entries
