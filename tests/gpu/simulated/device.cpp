// A CUDA device for CPU builds of torch: every operator runs its CPU kernel on the memory behind the device's addresses,
// after the checks that CUDA would make. `__init__.py` builds and loads it before torch.
#include <ATen/EmptyTensor.h>
#include <ATen/native/SparseTensorUtils.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/values_native.h>
#include <torch/library.h>
#include "runtime.h"

using namespace at;
using sim::Device;
using c10::IValue;
using c10::Storage;
using c10::StorageImpl;
using torch::jit::Stack;
using Names = std::set<std::string>;

REGISTER_ALLOCATOR(c10::kCUDA, &sim::device_allocator);
namespace sim { C10_REGISTER_GUARD_IMPL(CUDA, Guard); }
namespace at { using CUDAHooks = sim::Hooks; REGISTER_CUDA_HOOKS(CUDAHooks); }

// Operators that take CPU tensors beside those of the device: an index is copied to it, CTC wants its labels either way.
static const Names TAKE_HOST = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index",
                                "aten::_unsafe_index_put", "aten::lift_fresh", "aten::_ctc_loss", "aten::_ctc_loss_backward"};
// Operators whose CUDA kernel waits for the device: the size of the result depends on values, or the host decides.
static const Names WAITING = {"aten::nonzero", "aten::masked_select", "aten::_unique", "aten::_unique2", "aten::unique_dim",
                              "aten::unique_consecutive", "aten::unique_dim_consecutive", "aten::equal", "aten::bincount",
                              "aten::is_set_to", "aten::_ctc_loss", "aten::multinomial", "aten::_coalesce", "aten::linalg_eig",
                              "aten::linalg_eigvals", "aten::_linalg_eigvals", "aten::_linalg_eigh", "aten::_linalg_svd", "aten::linalg_lstsq"};
// cuBLAS and cuDNN multiply no integers.
static const Names FLOATING = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addbmm", "aten::mv", "aten::addmv",
                               "aten::addmv_", "aten::dot", "aten::vdot", "aten::convolution"};
// Types that a CPU kernel takes and the CUDA kernel does not, from the table of torch's own tests (`op_db`: `dtypes` and `dtypesIfCUDA`).
static const std::vector<ScalarType> HALVES = {kHalf, kBFloat16}, BYTES = {kByte}, BOOLS = {kBool}, INTEGERS = {kByte, kChar, kShort, kInt, kLong};
static const std::map<std::string, std::vector<ScalarType>> LACKING = {
    {"aten::histc", HALVES}, {"aten::igamma", HALVES}, {"aten::igammac", HALVES}, {"aten::angle", HALVES}, {"aten::upsample_bilinear2d", BYTES},
    {"aten::upsample_bicubic2d", BYTES}, {"aten::_upsample_bilinear2d_aa", BYTES}, {"aten::scatter_reduce", BOOLS},
    {"aten::max_pool2d_with_indices", INTEGERS}, {"aten::max_pool3d_with_indices", INTEGERS}, {"aten::avg_pool2d", INTEGERS}, {"aten::avg_pool3d", INTEGERS}};

static const Names PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::addbmm"};

// May a product of float32 matrices, or a convolution, run in TF32 under torch's current settings?
static bool loose(const std::string& name) {
  bool convolves = name.find("convolution") != std::string::npos;
  if (!convolves && !PRODUCTS.count(name)) return false;
  auto precision = at::globalContext().float32Precision(Float32Backend::CUDA, convolves ? Float32Op::CONV : Float32Op::MATMUL);
  return precision == Float32Precision::TF32;
}

static void* begin(const Storage& s) { return const_cast<void*>(s.data()); }

static Tensor over(Storage storage, c10::DispatchKey key, const Tensor& like) {
  auto made = at::detail::make_tensor<TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  auto* impl = made.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return made;
}

struct Kept {  // memory that another storage owns; `block` is set where the device counts it as its own
  Storage owner;
  const void* block;
  ~Kept() { if (block) sim::give_back(block); }
};
static void drop_kept(void* p) { delete (Kept*)p; }
static Storage alias(const Storage& s, void* address, Device d, c10::Allocator* allocator, const void* block) {
  c10::DataPtr pointer(address, new Kept{s, block}, &drop_kept, d);
  return Storage(c10::make_intrusive<StorageImpl>(StorageImpl::use_byte_size_t(), s.nbytes(), std::move(pointer), allocator, true));
}

// The tensors of one call on both sides: storages stay shared as they were, so that torch's own overlap checks hold.
struct Mirror {
  std::map<StorageImpl*, Storage> hosts, back;

  Tensor host(const Tensor& t) {
    if (!t.defined() || !t.is_cuda()) return t;
    if (t.layout() == kSparse) {
      auto* s = at::sparse::get_sparse_impl(t);
      return at::_sparse_coo_tensor_unsafe(host(s->indices()), host(s->values()), t.sizes(), t.options().device(kCPU), s->coalesced());
    }
    if (t.layout() != kStrided) return t;
    if (t._is_zerotensor()) return at::zeros(t.sizes(), t.options().device(kCPU));  // it has no memory
    Storage s = t.storage();
    auto& known = hosts[s.unsafeGetStorageImpl()];
    if (!known) {
      TORCH_CHECK(!begin(s) || sim::is_device_address(begin(s)), "simulated CUDA: a device tensor over the host's memory");
      known = alias(s, sim::host_address(begin(s)), Device(kCPU), c10::GetAllocator(kCPU), nullptr);
    }
    return over(known, DispatchKey::CPU, t);
  }

  Tensor device(const Tensor& t, Device d) {
    if (!t.defined() || t.is_cuda()) return t;
    if (t.layout() == kSparse) {
      auto* s = at::sparse::get_sparse_impl(t);
      return at::_sparse_coo_tensor_unsafe(device(s->indices(), d), device(s->values(), d), t.sizes(), t.options().device(d), s->coalesced());
    }
    if (t.layout() != kStrided) return t;
    if (t._is_zerotensor()) return device(at::zeros(t.sizes(), t.options()), d);
    Storage s = t.storage();
    auto& known = back[s.unsafeGetStorageImpl()];
    if (!known) {
      void* p = begin(s);
      if (p) sim::take(p, s.nbytes(), d.index());
      known = alias(s, sim::device_address(p), d, &sim::device_allocator, p);
    }
    return over(known, DispatchKey::CUDA, t);
  }
};

struct Call {
  const c10::OperatorHandle& op;
  const c10::FunctionSchema& schema;
  Stack* stack;
  std::string name, whole;
  size_t n;
  std::vector<IValue> given, turned;
  std::optional<Device> where;
  bool hosted = false, masked = false, integers = false, doubles = false, singles = false;
  Mirror mirror;

  Call(const c10::OperatorHandle& o, Stack* s) : op(o), schema(o.schema()), stack(s), name(schema.name()) {
    whole = name + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
    n = schema.arguments().size();
    given.assign(s->end() - n, s->end());
  }

  bool writes(size_t i) const {
    const auto* a = schema.arguments()[i].alias_info();
    return a && a->isWrite();
  }

  template <class F> static void each(const IValue& v, F f) {
    if (v.isTensor()) f(v.toTensor());
    else if (v.isTensorList()) for (const Tensor& t : v.toTensorVector()) f(t);
    else if (v.isOptionalTensorList()) { for (const std::optional<Tensor>& t : v.toOptionalTensorVector()) if (t) f(*t); }
  }

  void look(const Tensor& t) {
    if (!t.defined()) return;
    doubles |= t.scalar_type() == kDouble && t.dim();
    if (!t.is_cuda()) { hosted |= t.dim() > 0; return; }
    TORCH_CHECK(!where || *where == t.device(), "simulated CUDA: ", whole, ": Expected all tensors to be on the same device, but found at least two devices, ",
                *where, " and ", t.device(), "!");
    where = t.device();
    singles |= t.scalar_type() == kFloat;
    integers |= isIntegralType(t.scalar_type(), true);
  }

  void refuse_types() {
    auto found = LACKING.find(name);
    if (found == LACKING.end() || !given[0].isTensor()) return;
    ScalarType type = given[0].toTensor().scalar_type();
    bool lacks = std::count(found->second.begin(), found->second.end(), type);
    TORCH_CHECK_NOT_IMPLEMENTED(!lacks, "simulated CUDA: \"", name, "_cuda\" not implemented for '", toString(type), "'");
  }

  void check() {
    refuse_types();
    for (auto& v : given) {
      each(v, [&](const Tensor& t) { look(t); });
      if (v.isOptionalTensorList())
        each(v, [&](const Tensor& t) { masked |= t.defined() && (t.scalar_type() == kBool || t.scalar_type() == kByte); });
    }
    for (auto& v : given)
      if (!where && v.isDevice() && v.toDevice().is_cuda())
        where = Device(kCUDA, v.toDevice().has_index() ? v.toDevice().index() : sim::current_device);
    if (!where) where = Device(kCUDA, sim::current_device);
    TORCH_CHECK(!hosted || TAKE_HOST.count(name), "simulated CUDA: ", whole,
                ": Expected all tensors to be on the same device, but found at least two devices, ", *where, " and cpu!");
    TORCH_CHECK_NOT_IMPLEMENTED(!operators_refused.count(whole), "simulated CUDA: Could not run '", whole, "' with arguments from the 'CUDA' backend: it has no kernel");
    TORCH_CHECK_NOT_IMPLEMENTED(!integers || !FLOATING.count(name), "simulated CUDA: \"", name, "_cuda\" not implemented for integers");
    TORCH_CHECK_TYPE(!doubles || !float64_refused, "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64");
    bool indexes = name.find("index") != std::string::npos;
    { sim::Locked l(sim::guard); operators_seen.insert(whole + (doubles ? " f64" : singles && loose(name) ? " tf32" : "")); }
    if (hosted) sim::report("h2d", whole);
    if (WAITING.count(name) || (masked && indexes) || whole == "aten::repeat_interleave.Tensor") sim::synchronized(whole);
    if (sim::faulty.count(whole)) sim::fault = "device-side assert triggered";
  }

  void touch() {
    for (size_t i = 0; i < n; i++)
      each(given[i], [&](const Tensor& t) {
        if (t.defined() && t.is_cuda() && t.layout() == kStrided) sim::touch(begin(t.storage()), writes(i), whole);
      });
  }

  void turn() {
    for (size_t i = 0; i < n; i++) {
      const IValue& v = given[i];
      auto host = [&](const Tensor& t) { return mirror.host(t); };
      if (v.isTensor()) turned.emplace_back(host(v.toTensor()));
      else if (v.isTensorList()) {
        c10::List<Tensor> all;
        for (const Tensor& t : v.toTensorVector()) all.push_back(host(t));
        turned.emplace_back(all);
      } else if (v.isOptionalTensorList()) {
        c10::List<std::optional<Tensor>> all;
        for (const std::optional<Tensor>& t : v.toOptionalTensorVector()) all.push_back(t ? std::optional<Tensor>(host(*t)) : std::nullopt);
        turned.emplace_back(all);
      } else if (v.isDevice() && v.toDevice().is_cuda()) turned.emplace_back(Device(kCPU));
      else if (v.isNone() && schema.arguments()[i].name() == "generator") turned.emplace_back(sim::generator(where->index()));
      else turned.push_back(v);
    }
  }

  void compute() {
    torch::jit::drop(*stack, n);
    for (auto& v : turned) stack->push_back(v);
    at::AutoDispatchBelowADInplaceOrView below;
    sim::Drawing drawing(whole, *where);
    try { op.callBoxed(*stack); }
    catch (const c10::IndexError&) { sim::report("assert", whole); throw; }  // a device-side assert, which ends a real process's use of CUDA
  }

  void settle_sparse(const Tensor& o, const Tensor& f) {
    auto *to = at::sparse::get_sparse_impl(o), *from = at::sparse::get_sparse_impl(f);
    to->raw_resize_(from->sparse_dim(), from->dense_dim(), f.sizes());
    to->set_indices_and_values_unsafe(mirror.device(from->indices(), o.device()), mirror.device(from->values(), o.device()));
    to->set_coalesced(from->coalesced());
  }

  // A kernel may have given an argument another size, or other memory.
  void settle(const Tensor& o, const Tensor& f) {
    if (!o.defined() || !o.is_cuda()) return;
    if (o.layout() == kSparse) return settle_sparse(o, f);
    if (o.layout() != kStrided) return;
    auto* impl = o.unsafeGetTensorImpl();
    if (begin(f.storage()) != sim::host_address(begin(o.storage()))) impl->set_storage_keep_dtype(mirror.device(f, o.device()).storage());
    if (o.sizes() != f.sizes() || o.strides() != f.strides() || o.storage_offset() != f.storage_offset())
      impl->set_sizes_and_strides(f.sizes(), f.strides(), f.storage_offset());
  }

  void settle_all() {
    for (size_t i = 0; i < n; i++) {
      if (!writes(i)) continue;
      if (given[i].isTensor()) settle(given[i].toTensor(), turned[i].toTensor());
      else if (given[i].isTensorList()) {
        auto o = given[i].toTensorVector(), f = turned[i].toTensorVector();
        for (size_t j = 0; j < o.size(); j++) settle(o[j], f[j]);
      }
    }
  }

  // What the caller gets for a result of the CPU kernel: its own argument, a view of it, or new memory of the device.
  Tensor result(const Tensor& t, bool aliases) {
    if (!t.defined() || t.is_cuda()) return t;
    for (size_t k = 0; k < n; k++) {
      if (!given[k].isTensor() || !turned[k].isTensor()) continue;
      const Tensor o = given[k].toTensor(), f = turned[k].toTensor();
      if (!f.defined()) continue;
      if (f.is_same(t)) return o;
      bool strided = t.layout() == kStrided && f.layout() == kStrided;
      if (aliases && o.is_cuda() && strided && t.storage().unsafeGetStorageImpl() == f.storage().unsafeGetStorageImpl())
        return over(o.storage(), DispatchKey::CUDA, t);
    }
    return mirror.device(t, *where);
  }

  void results() {
    const size_t m = schema.returns().size(), from = stack->size() - m;
    for (size_t i = 0; i < m; i++) {
      IValue& r = (*stack)[from + i];
      bool aliases = schema.returns()[i].alias_info() != nullptr;
      if (r.isTensor()) r = result(r.toTensor(), aliases);
      else if (r.isTensorList()) {
        c10::List<Tensor> all;
        for (const Tensor& t : r.toTensorVector()) all.push_back(result(t, aliases));
        r = all;
      }
    }
  }
};

static void run(const c10::OperatorHandle& op, Stack* stack) {
  Call call(op, stack);
  call.check();
  call.touch();
  call.turn();
  call.compute();
  call.settle_all();
  call.results();
}

static c10::DeviceGuard at_device(std::optional<Device> d) {
  Device device = d && d->has_index() ? *d : Device(kCUDA, sim::current_device);
  TORCH_CHECK(device.index() < sim::devices, "CUDA error: invalid device ordinal");
  return c10::DeviceGuard(device);
}
static Tensor new_empty_on_device(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> d, std::optional<bool>,
                    std::optional<MemoryFormat> format) {
  auto guard = at_device(d);
  TORCH_CHECK_TYPE(!float64_refused || dtype != kDouble, "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64");
  return at::detail::empty_generic(size, &sim::device_allocator, c10::DispatchKeySet(DispatchKey::CUDA), c10::dtype_or_default(dtype), format);
}
static Tensor new_strided_on_device(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> d,
                            std::optional<bool>) {
  auto guard = at_device(d);
  TORCH_CHECK_TYPE(!float64_refused || dtype != kDouble, "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64");
  return at::detail::empty_strided_generic(size, stride, &sim::device_allocator, c10::DispatchKeySet(DispatchKey::CUDA), c10::dtype_or_default(dtype));
}

static std::string counted(const Tensor& t) { return t.dim() ? std::to_string(t.numel() * t.element_size()) + " bytes" : "a number"; }

// From pinned memory a copy to the device runs by itself: what it reads is compared with the source once the host knows that it is done.
static void depart(const Tensor& source, int stream) {
  sim::Locked l(sim::guard);
  const char* p = (const char*)source.data_ptr();
  sim::flights.push_back({p, std::vector<char>(p, p + source.nbytes()), stream, sim::clocks[stream][stream]});
}

static Tensor& copy_between(Tensor& self, const Tensor& src, bool non_blocking) {
  TORCH_CHECK(self.layout() == kStrided && src.layout() == kStrided, "simulated CUDA: copies between sparse and dense tensors are not simulated");
  if (self.scalar_type() == kDouble || src.scalar_type() == kDouble) { sim::Locked l(sim::guard); operators_seen.insert("aten::copy_ f64"); }
  bool up = self.is_cuda() && src.is_cpu() && src.numel(), down = self.is_cpu() && src.is_cuda();
  if (self.is_cuda()) sim::touch(begin(self.storage()), true, "aten::copy_");
  if (src.is_cuda()) sim::touch(begin(src.storage()), false, "aten::copy_");
  {
    Mirror mirror;
    Tensor to = mirror.host(self), from = mirror.host(src);
    to.copy_(from);
  }
  if (up) {
    sim::report("h2d", counted(src));
    bool pinned = sim::is_pinned(src.data_ptr());
    if (!non_blocking) sim::synchronized("copy to the device that waits");
    else if (pinned && src.is_non_overlapping_and_dense()) depart(src, sim::stream_of(self.device().index()));
  }
  if (down) {
    if (non_blocking && sim::is_pinned(self.data_ptr())) sim::report("d2h", counted(src));
    else sim::synchronized("copy to the host of " + counted(src));
  }
  return self;
}
static Scalar read_item(const Tensor& self) {
  sim::touch(begin(self.storage()), false, "item");
  sim::synchronized("item");
  Mirror mirror;
  return at::_local_scalar_dense(mirror.host(self));
}
static const Tensor& resize_on_device(const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> format) {
  int64_t elements = self.storage_offset() + c10::multiply_integers(size);
  size_t bytes = elements * self.element_size();
  auto* storage = self.storage().unsafeGetStorageImpl();
  if (bytes > storage->nbytes()) {
    c10::DeviceGuard guard(self.device());
    auto fresh = sim::device_allocator.allocate(bytes);
    if (begin(self.storage())) memcpy(sim::host_address(fresh.get()), sim::host_address(begin(self.storage())), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(fresh));
    storage->set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  if (format) self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  return self;
}
static void record_on(Tensor& self, c10::Stream s) { sim::Guard().recordDataPtrOnStream(self.storage().data_ptr(), s); }

// Operators that have a CUDA kernel only, by their formulas.
typedef const std::optional<Tensor>& Bias;
static Tensor with_bias(const Tensor& t, Bias bias) { return bias && bias->defined() ? t + *bias : t; }
static std::tuple<Tensor, Tensor, Tensor> fused_lstm(const Tensor& input, const Tensor& hidden, const Tensor& cell, Bias b1, Bias b2) {
  auto gates = with_bias(with_bias(input + hidden, b1), b2).chunk(4, 1);
  Tensor next = gates[1].sigmoid() * cell + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * next.tanh(), next, at::empty({0}, input.options())};
}
static std::tuple<Tensor, Tensor> fused_gru(const Tensor& input, const Tensor& hidden, const Tensor& before, Bias b1, Bias b2) {
  auto x = with_bias(input, b1).chunk(3, 1), h = with_bias(hidden, b2).chunk(3, 1);
  Tensor reset = (x[0] + h[0]).sigmoid(), update = (x[1] + h[1]).sigmoid(), fresh = (x[2] + reset * h[2]).tanh();
  return {(before - fresh) * update + fresh, at::empty({0}, input.options())};
}
static bool no_library(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t) { return false; }
static bool no_library_of_tensors(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t) { return false; }

static auto boxed() { return torch::CppFunction::makeFromBoxedFunction<&run>(); }
TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(boxed()); }
TORCH_LIBRARY_IMPL(_, SparseCUDA, m) { m.fallback(boxed()); }
TORCH_LIBRARY_IMPL(aten, AutogradCUDA, m) {
  m.impl("_thnn_fused_lstm_cell", fused_lstm);
  m.impl("_thnn_fused_gru_cell", fused_gru);
}
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", new_empty_on_device);
  m.impl("empty_strided", new_strided_on_device);
  m.impl("copy_", copy_between);
  m.impl("_local_scalar_dense", read_item);
  m.impl("resize_", resize_on_device);
  m.impl("record_stream", record_on);
  m.impl("_thnn_fused_lstm_cell", fused_lstm);
  m.impl("_thnn_fused_gru_cell", fused_gru);
  for (const char* name : {"_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"}) m.impl(name, no_library);
  for (const char* name : {"_use_cudnn_ctc_loss.Tensor", "_use_miopen_ctc_loss.Tensor"}) m.impl(name, no_library_of_tensors);
  // these choose a library by the device before any kernel is looked up
  for (const char* name : {"convolution", "convolution_backward", "convolution_overrideable", "convolution_backward_overrideable", "_embedding_bag"})
    m.impl(name, boxed());
}
TORCH_LIBRARY_IMPL(aten, SparseCUDA, m) {
  m.impl("_sparse_coo_tensor_with_dims", at::native::new_with_dims_sparse);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", at::native::new_with_dims_and_tensor_sparse_symint);
  m.impl("_indices", at::native::_indices_sparse);
  m.impl("_values", at::native::_values_sparse);
  m.impl("_nnz", at::native::_nnz_sparse);
  m.impl("_coalesced_", at::native::_coalesced_sparse_);
  m.impl("is_coalesced", at::native::is_coalesced_sparse);
  m.impl("indices", at::native::indices_sparse);
  m.impl("values", at::native::values_sparse);
  m.impl("sparse_dim", at::native::sparse_dim_sparse);
  m.impl("dense_dim", at::native::dense_dim_sparse);
  for (const char* name : {"clone", "copy_", "copy_sparse_to_sparse_", "_to_dense"}) m.impl(name, boxed());
}
