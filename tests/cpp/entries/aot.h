// SPDX-License-Identifier: Apache-2.0
//
// Calls as MindSpore's ahead-of-time interface makes them, by hand.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <vector>

#include "entries/fake_extra.h"
#include "opwright/stub.h"
#include "support/tensor.h"

namespace opwright::test {

// One tensor of the row that MindSpore hands over.
struct Param {
  Param(Tensor& tensor, const char* dtype)  // NOLINT
      : data(tensor.first()), shape(tensor.shape()), dtype(dtype) {}
  explicit Param(const char* dtype) : dtype(dtype) {}  // "none", or a text

  void* data = nullptr;
  Dims shape;
  const char* dtype;
};

// The row's arrays, exactly as long as it is: reading beyond them is seen by a sanitizer.
class Row {
 public:
  explicit Row(std::vector<Param> params) : params_(std::move(params)) {
    for (Param& param : params_) {
      data_.push_back(param.data);
      ndims_.push_back(static_cast<int>(param.shape.size()));
      shapes_.push_back(param.shape.empty() ? nullptr : param.shape.data());
      dtypes_.push_back(param.dtype);
    }
  }
  // Of shapes alone, for an InferShape function.
  static Row OfShapes(const std::vector<Dims>& shapes) {
    std::vector<Param> params(shapes.size(), Param("float32"));
    for (size_t i = 0; i < shapes.size(); ++i) params[i].shape = shapes[i];
    return Row(std::move(params));
  }
  Row(const Row&) = delete;

  OpwrightAotCall Call(void* extra = nullptr) {
    return {static_cast<int32_t>(data_.size()),
            data_.data(),
            ndims_.data(),
            shapes_.data(),
            dtypes_.data(),
            extra};
  }
  int* ndims() { return ndims_.data(); }
  int64_t** shapes() { return shapes_.data(); }

 private:
  std::vector<Param> params_;
  std::vector<void*> data_;
  std::vector<int> ndims_;
  std::vector<int64_t*> shapes_;
  std::vector<const char*> dtypes_;
};

// What MindSpore would show the user; "" when nothing is thrown.
template <class Body>
std::string Thrown(const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Takes over a vector as MindSpore does: of one output its dimensions, of several all shapes.
template <class Vector>
Vector Taken(OpwrightVector handed) {
  static_assert(sizeof(Vector) == sizeof handed);
  auto* vector = reinterpret_cast<Vector*>(&handed);
  Vector taken = std::move(*vector);
  vector->~Vector();
  return taken;
}

}  // namespace opwright::test
