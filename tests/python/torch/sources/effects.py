# SPDX-License-Identifier: Apache-2.0
"""Kernels that write an input, that fail, and that count how they are called."""

from sources.describe import HEADER, attr, metadef, param

effects = (
    [
        metadef(
            "accumulate",
            [param("sums"), param("x")],
            [param("norm", shape=[])],
            shape_rule=[],
            mutates=["sums"],
        ),
        # Writes sums and gives what it was, and x beside it.
        metadef(
            "exchange",
            [param("sums"), param("x")],
            [param("old"), param("added")],
            shape_rule="same(sums, x)",
            mutates=["sums"],
        ),
        metadef(
            "fail",
            [param("x", ["float32"])],
            [param("y", ["float32"])],
            attr=[attr("how", "string")],
            gradient="fail_grad",
        ),
        metadef(
            "fail_grad",
            [param("x", ["float32"]), param("grad_y", ["float32"])],
            [param("grad_x", ["float32"])],
            shape_rule="same(x)",
        ),
        metadef(
            "probe",
            [param("x"), param("w"), param("v")],
            [param("y")],
            shape_rule="same(x, w, v)",
            gradient="probe_grad",
        ),
        # Writes the calls so far into call_counts: all, with grad_w wanted, with grad_v wanted.
        metadef(
            "probe_grad",
            [param("x"), param("w"), param("grad_y")],
            [param("grad_x"), param("grad_w", kind="optional"), param("grad_v", kind="optional")],
            shape_rule="same(x)",
        ),
        # Each counts its calls, which ticks tells: tick, tick_grad, tick_each, tick_each_grad.
        metadef(
            "tick",
            [param("x")],
            [param("y")],
            shape_rule="same(x)",
            gradient="tick_grad",
            side_effect=True,
        ),
        metadef(
            "tick_grad",
            [param("x"), param("grad_y")],
            [param("grad_x")],
            shape_rule="same(x)",
            side_effect=True,
        ),
        metadef(
            "tick_each",
            [param("xs", kind="dynamic")],
            [param("ys", kind="dynamic")],
            shape_rule="same(xs)",
            gradient="tick_each_grad",
            side_effect=True,
        ),
        metadef(
            "tick_each_grad",
            [param("grad_ys", kind="dynamic")],
            [param("grad_xs", kind="dynamic")],
            shape_rule="same(grad_ys)",
            side_effect=True,
        ),
        metadef("ticks", [], [param("n", ["int64"], [4])], shape_rule=[4], side_effect=True),
        metadef(
            "call_counts", [], [param("counts", ["int64"], [3])], shape_rule=[3], side_effect=True
        ),
    ],
    HEADER
    + """
template <class T>
void Accumulate(View<T> sums, View<const T> x, View<T> norm) {
  T* written = sums.Data();
  T largest = 0;
  for (int64_t i = 0; i < x.Size(); ++i) {
    written[i] += x.Data()[i];
    if (written[i] > largest) largest = written[i];
  }
  norm.Data()[0] = largest;
}
OPWRIGHT_FUNCTION(accumulate, Accumulate)

template <class T>
void Exchange(View<T> sums, View<const T> x, View<T> old, View<T> added) {
  T* written = sums.Data();
  for (int64_t i = 0; i < x.Size(); ++i) {
    old.Data()[i] = written[i];
    added.Data()[i] = x.Data()[i];
    written[i] += x.Data()[i];
  }
}
OPWRIGHT_FUNCTION(exchange, Exchange)

class FailKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    const char* how = in.Attr<const char*>("how");
    if (strcmp(how, "throw int") == 0) throw 7;
    if (strcmp(how, "throw") == 0) throw opwright::KernelError("thrown words");
    if (strcmp(how, "status") == 0) return opwright::Status::Error("status words %d", 42);
    memcpy(out->GetTensor(0)->Data<float>(), in.GetTensor(0).Data<float>(),
           static_cast<size_t>(in.GetTensor(0).Size()) * 4);
    return opwright::SUCCESS;
  }
};

class FailGradKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    return opwright::Status::Error("backward words");
  }
};

static int64_t ticks[4];

static void Tick(int k) { __atomic_fetch_add(&ticks[k], 1, __ATOMIC_RELAXED); }

template <class T>
void Ticked(View<const T> x, View<T> y) {
  Tick(0);
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i];
}
OPWRIGHT_FUNCTION(tick, Ticked)

template <class T>
void TickedGrad(View<const T> x, View<const T> dy, View<T> dx) {
  Tick(1);
  for (int64_t i = 0; i < x.Size(); ++i) dx.Data()[i] = 2 * x.Data()[i] * dy.Data()[i];
}
OPWRIGHT_FUNCTION(tick_grad, TickedGrad)

template <class T>
void Copied(ViewList<const T> xs, ViewList<T> ys, int k) {
  Tick(k);
  for (int64_t j = 0; j < xs.Size(); ++j)
    for (int64_t i = 0; i < xs[j].Size(); ++i) ys[j].Data()[i] = xs[j].Data()[i];
}
template <class T>
void TickedEach(ViewList<const T> xs, ViewList<T> ys) {
  Copied(xs, ys, 2);
}
OPWRIGHT_FUNCTION(tick_each, TickedEach)
template <class T>
void TickedEachGrad(ViewList<const T> xs, ViewList<T> ys) {
  Copied(xs, ys, 3);
}
OPWRIGHT_FUNCTION(tick_each_grad, TickedEachGrad)

void Ticks(View<int64_t> out) {
  for (int64_t i = 0; i < 4; ++i) out(i) = __atomic_load_n(&ticks[i], __ATOMIC_RELAXED);
}
OPWRIGHT_FUNCTION(ticks, Ticks)

static int64_t counts[3];

template <class T>
void Probe(View<const T> x, View<const T> w, View<const T> v, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * w.Data()[i] + v.Data()[i];
}
OPWRIGHT_FUNCTION(probe, Probe)

template <class T>
void ProbeGrad(View<const T> x, View<const T> w, View<const T> dy, View<T> dx, View<T> dw,
               View<T> dv) {
  __atomic_fetch_add(&counts[0], 1, __ATOMIC_RELAXED);
  if (dw) __atomic_fetch_add(&counts[1], 1, __ATOMIC_RELAXED);
  if (dv) __atomic_fetch_add(&counts[2], 1, __ATOMIC_RELAXED);
  for (int64_t i = 0; i < x.Size(); ++i) {
    dx.Data()[i] = dy.Data()[i] * w.Data()[i];
    if (dw) dw.Data()[i] = dy.Data()[i] * x.Data()[i];
    if (dv) dv.Data()[i] = dy.Data()[i];
  }
}
OPWRIGHT_FUNCTION(probe_grad, ProbeGrad)

void CallCounts(View<int64_t> out) {
  for (int64_t i = 0; i < 3; ++i) out(i) = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
}
OPWRIGHT_FUNCTION(call_counts, CallCounts)
""",
)
