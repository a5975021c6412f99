/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of every struct of c_api.h as one table, compiled once as C and once as C++.
 */
#ifndef OPWRIGHT_TESTS_ABI_LAYOUT_H_
#define OPWRIGHT_TESTS_ABI_LAYOUT_H_

#include <stddef.h>

#include "opwright/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LayoutRow {
  const char* member;
  size_t offset;
  size_t size;
} LayoutRow;

extern const LayoutRow layout_c[];
extern const size_t layout_c_size;
extern const LayoutRow layout_cxx[];
extern const size_t layout_cxx_size;

/* NULL, or the check that failed; it is valid until the next call. */
const char* c_api_test(const char* library_path);

#ifdef __cplusplus
}
#endif

#define WHOLE(type) {#type, 0, sizeof(type)}
#define MEMBER(type, member) {#type "." #member, offsetof(type, member), sizeof(((type*)0)->member)}

#define LAYOUT_ROWS                                                                                \
  WHOLE(OpwrightDType), MEMBER(OpwrightDType, code), MEMBER(OpwrightDType, bits),                  \
      MEMBER(OpwrightDType, lanes), WHOLE(OpwrightTensor), MEMBER(OpwrightTensor, data),           \
      MEMBER(OpwrightTensor, device_type), MEMBER(OpwrightTensor, device_id),                      \
      MEMBER(OpwrightTensor, ndim), MEMBER(OpwrightTensor, dtype), MEMBER(OpwrightTensor, shape),  \
      MEMBER(OpwrightTensor, strides), MEMBER(OpwrightTensor, byte_offset),                        \
      WHOLE(OpwrightArgument), MEMBER(OpwrightArgument, tensors), MEMBER(OpwrightArgument, count), \
      WHOLE(OpwrightAttr), MEMBER(OpwrightAttr, type), MEMBER(OpwrightAttr, size),                 \
      MEMBER(OpwrightAttr, value), WHOLE(OpwrightError), MEMBER(OpwrightError, struct_size),       \
      MEMBER(OpwrightError, code), MEMBER(OpwrightError, message),                                 \
      MEMBER(OpwrightError, diagnostics), MEMBER(OpwrightError, destroy), WHOLE(OpwrightHost),     \
      MEMBER(OpwrightHost, context), MEMBER(OpwrightHost, allocate),                               \
      MEMBER(OpwrightHost, release), MEMBER(OpwrightHost, parallel_for),                           \
      MEMBER(OpwrightHost, log), WHOLE(OpwrightParamDef), MEMBER(OpwrightParamDef, name),          \
      MEMBER(OpwrightParamDef, kind), MEMBER(OpwrightParamDef, num_dims),                          \
      MEMBER(OpwrightParamDef, dims), MEMBER(OpwrightParamDef, dtypes),                            \
      MEMBER(OpwrightParamDef, leading_any), MEMBER(OpwrightParamDef, nd_format),                  \
      WHOLE(OpwrightAttrDef), MEMBER(OpwrightAttrDef, name), MEMBER(OpwrightAttrDef, type),        \
      MEMBER(OpwrightAttrDef, required), MEMBER(OpwrightAttrDef, default_value),                   \
      WHOLE(OpwrightShapeRule), MEMBER(OpwrightShapeRule, kind), MEMBER(OpwrightShapeRule, args),  \
      MEMBER(OpwrightShapeRule, code_size), MEMBER(OpwrightShapeRule, code),                       \
      MEMBER(OpwrightShapeRule, leading_any), MEMBER(OpwrightShapeRule, text),                     \
      WHOLE(OpwrightRole), WHOLE(OpwrightGradient), MEMBER(OpwrightGradient, op),                  \
      MEMBER(OpwrightGradient, inputs), MEMBER(OpwrightGradient, outputs), WHOLE(OpwrightOpDef),   \
      MEMBER(OpwrightOpDef, name), MEMBER(OpwrightOpDef, ns), MEMBER(OpwrightOpDef, num_columns),  \
      MEMBER(OpwrightOpDef, num_mutates), MEMBER(OpwrightOpDef, inputs),                           \
      MEMBER(OpwrightOpDef, outputs), MEMBER(OpwrightOpDef, attrs),                                \
      MEMBER(OpwrightOpDef, shape_rules), MEMBER(OpwrightOpDef, symbols),                          \
      MEMBER(OpwrightOpDef, mutates), MEMBER(OpwrightOpDef, gradient),                             \
      MEMBER(OpwrightOpDef, side_effect), MEMBER(OpwrightOpDef, mixed_dtypes),                     \
      MEMBER(OpwrightOpDef, json), WHOLE(OpwrightCall), MEMBER(OpwrightCall, def),                 \
      MEMBER(OpwrightCall, inputs), MEMBER(OpwrightCall, outputs), MEMBER(OpwrightCall, attrs),    \
      MEMBER(OpwrightCall, column), MEMBER(OpwrightCall, host), MEMBER(OpwrightCall, frame),       \
      MEMBER(OpwrightCall, fail), MEMBER(OpwrightCall, scratch), MEMBER(OpwrightCall, set_shape),  \
      WHOLE(OpwrightKernel), MEMBER(OpwrightKernel, name), MEMBER(OpwrightKernel, create),         \
      MEMBER(OpwrightKernel, compute), MEMBER(OpwrightKernel, infer_shape),                        \
      MEMBER(OpwrightKernel, takes_expanded), MEMBER(OpwrightKernel, signature),                   \
      WHOLE(OpwrightSignature), MEMBER(OpwrightSignature, kinds),                                  \
      MEMBER(OpwrightSignature, dtypes), MEMBER(OpwrightSignature, attr_types),                    \
      WHOLE(OpwrightOperatorEntry),                                                                \
      MEMBER(OpwrightOperatorEntry, kernel), MEMBER(OpwrightOperatorEntry, def),                   \
      MEMBER(OpwrightOperatorEntry, compute), WHOLE(OpwrightFramework),                            \
      MEMBER(OpwrightFramework, enter), WHOLE(OpwrightLibrary),                                    \
      MEMBER(OpwrightLibrary, abi_major), MEMBER(OpwrightLibrary, march),                          \
      MEMBER(OpwrightLibrary, operators), MEMBER(OpwrightLibrary, frameworks),                     \
      WHOLE(OpwrightNote), MEMBER(OpwrightNote, name), MEMBER(OpwrightNote, struct_size),          \
      MEMBER(OpwrightNote, abi_major), MEMBER(OpwrightNote, march),                                \
      MEMBER(OpwrightNote, opwright_version), MEMBER(OpwrightNote, features),                      \
      WHOLE(OpwrightShape), MEMBER(OpwrightShape, dims)

#endif /* OPWRIGHT_TESTS_ABI_LAYOUT_H_ */
