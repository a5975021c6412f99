// SPDX-License-Identifier: Apache-2.0
//
// The other side of MindSpore's interface, with its std::string.
#define _GLIBCXX_USE_CXX11_ABI 0  // NOLINT(bugprone-reserved-identifier)

#include "entries/fake_extra.h"

#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

static_assert(_GLIBCXX_USE_CXX11_ABI == 0, "MindSpore's strings are those of the old ABI");

namespace opwright::entries {

// AotExtra of MindSpore 2's custom_aot_extra.h: the order of its virtual functions.
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

}  // namespace opwright::entries

namespace opwright::test {

using IntList = std::vector<int64_t>;
using FloatList = std::vector<float>;
using IntLists = std::vector<IntList>;
using FloatLists = std::vector<FloatList>;

class FakeExtra::Impl final : public entries::MindSporeExtra {
 public:
  bool HasAttr(std::string name) override { return attrs.count(name) > 0; }
  bool GetAttrBool(std::string name) override { return Get<bool>(name); }
  int64_t GetAttrInt(std::string name) override { return Get<int64_t>(name); }
  float GetAttrFloat(std::string name) override { return Get<float>(name); }
  std::string GetAttrStr(std::string name) override { return Get<std::string>(name); }
  IntList GetAttrIntVec(std::string name) override { return Get<IntList>(name); }
  FloatList GetAttrFloatVec(std::string name) override { return Get<FloatList>(name); }
  IntLists GetAttrInt2DVec(std::string name) override { return Get<IntLists>(name); }
  FloatLists GetAttrFloat2DVec(std::string name) override { return Get<FloatLists>(name); }

  template <class T>
  T Get(const std::string& name) const {
    const auto found = attrs.find(name);
    if (found == attrs.end()) throw std::runtime_error("there is no attribute called " + name);
    if (!std::holds_alternative<T>(found->second))
      throw std::runtime_error("attribute " + name + " is of another type");
    return std::get<T>(found->second);
  }

  std::map<std::string, std::variant<bool, int64_t, float, std::string, IntList, FloatList,
                                     IntLists, FloatLists>>
      attrs;
};

FakeExtra::FakeExtra() : impl_(new Impl) {}
FakeExtra::~FakeExtra() { delete impl_; }
void* FakeExtra::get() { return static_cast<entries::MindSporeExtra*>(impl_); }

FakeExtra& FakeExtra::Bool(const char* name, bool value) {
  impl_->attrs[name] = value;
  return *this;
}
FakeExtra& FakeExtra::Int(const char* name, int64_t value) {
  impl_->attrs[name] = value;
  return *this;
}
FakeExtra& FakeExtra::Float(const char* name, float value) {
  impl_->attrs[name] = value;
  return *this;
}
FakeExtra& FakeExtra::String(const char* name, std::string_view value) {
  impl_->attrs[name] = std::string(value.data(), value.size());
  return *this;
}
FakeExtra& FakeExtra::Ints(const char* name, std::initializer_list<int64_t> values) {
  impl_->attrs[name] = IntList(values);
  return *this;
}
FakeExtra& FakeExtra::Floats(const char* name, std::initializer_list<float> values) {
  impl_->attrs[name] = FloatList(values);
  return *this;
}
FakeExtra& FakeExtra::IntRows(const char* name,
                              std::initializer_list<std::initializer_list<int64_t>> rows) {
  IntLists lists;
  for (const auto& row : rows) lists.emplace_back(row);
  impl_->attrs[name] = lists;
  return *this;
}

}  // namespace opwright::test
