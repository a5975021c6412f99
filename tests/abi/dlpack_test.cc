// SPDX-License-Identifier: Apache-2.0
//
// OpwrightTensor is DLPack's DLTensor.
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include "opwright/c_api.h"

namespace {

TEST(Layout, ATensorIsThatOfDlpack) {
  EXPECT_EQ(sizeof(OpwrightTensor), sizeof(DLTensor));
  EXPECT_EQ(alignof(OpwrightTensor), alignof(DLTensor));
  EXPECT_EQ(offsetof(OpwrightTensor, data), offsetof(DLTensor, data));
  EXPECT_EQ(offsetof(OpwrightTensor, device_type),
            offsetof(DLTensor, device) + offsetof(DLDevice, device_type));
  EXPECT_EQ(offsetof(OpwrightTensor, device_id),
            offsetof(DLTensor, device) + offsetof(DLDevice, device_id));
  EXPECT_EQ(offsetof(OpwrightTensor, ndim), offsetof(DLTensor, ndim));
  EXPECT_EQ(offsetof(OpwrightTensor, dtype), offsetof(DLTensor, dtype));
  EXPECT_EQ(offsetof(OpwrightTensor, shape), offsetof(DLTensor, shape));
  EXPECT_EQ(offsetof(OpwrightTensor, strides), offsetof(DLTensor, strides));
  EXPECT_EQ(offsetof(OpwrightTensor, byte_offset), offsetof(DLTensor, byte_offset));
  EXPECT_EQ(sizeof(OpwrightDType), sizeof(DLDataType));
  EXPECT_EQ(offsetof(OpwrightDType, bits), offsetof(DLDataType, bits));
  EXPECT_EQ(offsetof(OpwrightDType, lanes), offsetof(DLDataType, lanes));
}

TEST(Layout, DtypeCodesAreThoseOfDlpack) {
  EXPECT_EQ(int{kOpwrightInt}, int{kDLInt});
  EXPECT_EQ(int{kOpwrightUInt}, int{kDLUInt});
  EXPECT_EQ(int{kOpwrightFloat}, int{kDLFloat});
  EXPECT_EQ(int{kOpwrightBfloat}, int{kDLBfloat});
  EXPECT_EQ(int{kOpwrightComplex}, int{kDLComplex});
  EXPECT_EQ(int{kOpwrightBool}, int{kDLBool});
}

}  // namespace
