// SPDX-License-Identifier: Apache-2.0
#include "base/dtype_name.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

constexpr struct {
  const char* name;
  int code;
  int bits;
} kListed[] = {
    {"float16", kOpwrightFloat, 16},
    {"float32", kOpwrightFloat, 32},
    {"float64", kOpwrightFloat, 64},
    {"bfloat16", kOpwrightBfloat, 16},
    {"int8", kOpwrightInt, 8},
    {"int16", kOpwrightInt, 16},
    {"int32", kOpwrightInt, 32},
    {"int64", kOpwrightInt, 64},
    {"uint8", kOpwrightUInt, 8},
    {"uint16", kOpwrightUInt, 16},
    {"uint32", kOpwrightUInt, 32},
    {"uint64", kOpwrightUInt, 64},
    {"bool", kOpwrightBool, 8},
    {"complex64", kOpwrightComplex, 64},
    {"complex128", kOpwrightComplex, 128},
};

TEST(DTypeName, NamesAndDtypesAreOneToOne) {
  for (const auto& listed : kListed) {
    const OpwrightDType dtype = DTypeNamed(listed.name);
    EXPECT_EQ(dtype.code, listed.code) << listed.name;
    EXPECT_EQ(dtype.bits, listed.bits) << listed.name;
    EXPECT_EQ(dtype.lanes, 1) << listed.name;
    EXPECT_EQ(DTypeName(dtype), listed.name);
  }
}

// Every code and number of bits: what is no name of the list comes back as nothing.
TEST(DTypeName, TheListIsWhole) {
  size_t found = 0;
  for (int code = 0; code < 20; ++code) {
    for (int bits = 0; bits < 256; ++bits) {
      const OpwrightDType dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
      const OpwrightDType back = DTypeNamed(DTypeName(dtype));
      if (back.bits == 0 || back.bits != bits) continue;
      EXPECT_EQ(back.code, code);
      ++found;
    }
  }
  EXPECT_EQ(found, std::size(kListed));
}

TEST(DTypeName, OtherNamesAreNone) {
  for (const char* name :
       {"", "float", "int", "fp16", "float8", "float032", "float32 ", "int+8", "int-8", "int128",
        "bool8", "complex32", "uint", "Float32", "string", "none", "int99999999999999999999"})
    EXPECT_EQ(DTypeNamed(name).bits, 0) << name;
}

TEST(DTypeName, WhatNoMetadefListsHasANameToo) {
  EXPECT_EQ(DTypeName({kOpwrightComplex, 32, 1}), "complex32");
  EXPECT_EQ(DTypeName({kOpwrightInt, 4, 1}), "int4");
  EXPECT_EQ(DTypeName({17, 8, 1}), "an unknown dtype (DLPack code 17)");
  EXPECT_EQ(DTypeName({kOpwrightFloat, 64, 0}), "a float number");
  EXPECT_EQ(DTypeName({kOpwrightInt, 64, 0}), "an int number");
  EXPECT_EQ(DTypeName({kOpwrightBool, 64, 0}), "a bool");
}

}  // namespace
}  // namespace opwright
