/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the stub that the build generates for each operator library and the entry archive:
 * one-line functions for frameworks whose callbacks carry no user data. Not for kernels or users.
 */
#ifndef OPWRIGHT_STUB_H_
#define OPWRIGHT_STUB_H_

#include "opwright/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* torch's boxed kernel: stack of 64-bit values, number of arguments, number of results. */
typedef void (*OpwrightTorchKernel)(uint64_t* stack, uint64_t num_args, uint64_t num_results);

typedef struct OpwrightStubOperator {
  const OpwrightOperatorEntry* entry;
  OpwrightTorchKernel torch_kernel; /* calls opwright_torch_call(index, ...) */
  OpwrightTorchKernel torch_guard; /* calls opwright_torch_guard(index, ...) */
} OpwrightStubOperator;

typedef struct OpwrightStub {
  int32_t num_operators;
  const OpwrightStubOperator* operators; /* those with a metadef and without; def may be NULL */
} OpwrightStub;

/* One call by MindSpore's ahead-of-time interface: inputs, then outputs. */
typedef struct OpwrightAotCall {
  int32_t num_params;
  void** params;
  int* ndims;
  int64_t** shapes;
  const char** dtypes;
  void* extra;
} OpwrightAotCall;

/* A C++ vector on its way through C. */
typedef struct OpwrightVector {
  void* words[3];
} OpwrightVector;

/* Defined by the stub, hidden. */
extern __attribute__((visibility("hidden"))) const OpwrightStub opwright_stub;

/* Defined by the archive. */
OpwrightError* opwright_entry_create(const OpwrightKernel* kernel, void** instance);
OpwrightError* opwright_entry_compute(const OpwrightKernel* kernel, void* instance,
                                      const OpwrightCall* call);
OpwrightError* opwright_entry_infer_shape(const OpwrightKernel* kernel, void* instance,
                                          const OpwrightCall* call);
void opwright_torch_call(int32_t index, uint64_t* stack, uint64_t num_args, uint64_t num_results);
void opwright_torch_guard(int32_t index, uint64_t* stack, uint64_t num_args, uint64_t num_results);
extern const OpwrightFramework opwright_framework_torch;
int opwright_mindspore_call(int32_t index, const OpwrightAotCall* call);
OpwrightVector opwright_mindspore_infer(int32_t index, int* ndims, int64_t** shapes, void* extra);

#ifdef __cplusplus
}
#endif

#endif /* OPWRIGHT_STUB_H_ */
