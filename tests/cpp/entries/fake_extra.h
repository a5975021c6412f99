// SPDX-License-Identifier: Apache-2.0
//
// What MindSpore hands over as `extra`: the attributes of a primitive. fake_extra.cc is compiled
// for MindSpore's std::string, of which nothing shows here.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace opwright::test {

// As MindSpore's does, it throws where an attribute is missing or is of another type.
class FakeExtra {
 public:
  FakeExtra();
  FakeExtra(const FakeExtra&) = delete;
  ~FakeExtra();

  FakeExtra& Bool(const char* name, bool value);
  FakeExtra& Int(const char* name, int64_t value);
  FakeExtra& Float(const char* name, float value);
  FakeExtra& String(const char* name, std::string_view value);
  FakeExtra& Ints(const char* name, std::initializer_list<int64_t> values);
  FakeExtra& Floats(const char* name, std::initializer_list<float> values);
  FakeExtra& IntRows(const char* name, std::initializer_list<std::initializer_list<int64_t>> rows);

  void* get();

 private:
  class Impl;
  Impl* impl_;
};

}  // namespace opwright::test
