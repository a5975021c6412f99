// SPDX-License-Identifier: Apache-2.0
//
// The acl form of a kernel: the names of opwright/kernel.h at global scope, and Data() of an input
// that is not const. A kernel must not write its inputs all the same.
#pragma once

#include "opwright/kernel.h"

using Status = opwright::Status;
using opwright::FAILED;
using opwright::SUCCESS;
using Tensor = opwright::BasicTensor<true>;
using OpKernelInput = opwright::BasicInput<true>;
using OpKernelOutput = opwright::BasicOutput<true>;
using InferInput = OpKernelInput;
using InferOutput = opwright::InferOutput;
using OpKernelBase = opwright::BasicKernel<true>;
