// What torch asks of CUDA's runtime: devices, streams, events, generators. Everything is finished when it is asked for;
// the clocks in memory.h keep account of what a real device might not have finished.
#pragma once
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include "memory.h"

namespace sim {

inline at::Generator& generator(DeviceIndex device) {
  static std::vector<at::Generator> made = [] {
    std::vector<at::Generator> all;
    for (int i = 0; i < MOST_DEVICES; i++) all.push_back(at::detail::createCPUGenerator(67280421310721 + i));
    return all;
  }();
  return made[device < 0 ? current_device : device];
}

// Kernels that take no generator draw from the default one: it lends them the state of the device's.
struct Drawing {
  at::Generator host = at::detail::getDefaultCPUGenerator(), mine;
  at::Tensor before;
  Drawing(const std::string& name, Device where) : mine(generator(where.index())) {
    if (name != "aten::native_dropout") return;
    before = host.get_state();
    host.set_state(mine.get_state());
  }
  ~Drawing() {
    if (!before.defined()) return;
    mine.set_state(host.get_state());
    host.set_state(before);
  }
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  typedef c10::Stream Stream;
  static DeviceIndex index(Device d) { return d.index() < 0 ? current_device : d.index(); }
  c10::DeviceType type() const override { return c10::kCUDA; }
  Device getDevice() const override { return Device(c10::kCUDA, current_device); }
  void setDevice(Device d) const override { current_device = index(d); }
  void uncheckedSetDevice(Device d) const noexcept override { current_device = index(d); }
  Device exchangeDevice(Device d) const override {
    Device before = getDevice();
    setDevice(d);
    return before;
  }
  DeviceIndex deviceCount() const noexcept override { return devices; }
  Stream getStream(Device d) const override {
    return Stream(Stream::UNSAFE, Device(c10::kCUDA, index(d)), stream_of(index(d)));
  }
  Stream getDefaultStream(Device d) const override { return Stream(Stream::UNSAFE, Device(c10::kCUDA, index(d)), index(d)); }
  Stream getNewStream(Device d, int) const override {
    Locked l(guard);
    return Stream(Stream::UNSAFE, Device(c10::kCUDA, index(d)), streams_made++);
  }
  Stream getStreamFromGlobalPool(Device d, bool) const override { return getNewStream(d, 0); }
  Stream exchangeStream(Stream s) const override {
    Stream before = getStream(s.device());
    current_streams[s.device_index()] = (int)s.id();
    return before;
  }
  void record(void** event, const Stream& s, const DeviceIndex, const c10::EventFlag) const override {
    Locked l(guard);
    if (!*event) *event = (void*)(intptr_t)++events_made;
    events[(int)(intptr_t)*event] = clocks[(int)s.id()];
  }
  void block(void* event, const Stream& s) const override {
    Locked l(guard);
    join(clocks[(int)s.id()], events[(int)(intptr_t)event]);
  }
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override {
    Locked l(guard);
    events.erase((int)(intptr_t)event);
  }
  bool queryStream(const Stream&) const override { return true; }
  void synchronizeStream(const Stream&) const override { synchronized("synchronizeStream"); }
  void synchronizeEvent(void*) const override { synchronized("synchronizeEvent"); }
  void synchronizeDevice(const DeviceIndex) const override { synchronized("synchronizeDevice"); }
  void recordDataPtrOnStream(const c10::DataPtr& p, const Stream& s) const override {
    Locked l(guard);
    auto found = blocks.find(host_address(p.get()));
    if (found != blocks.end()) found->second.recorded.insert((int)s.id());
  }
};

struct Hooks final : at::CUDAHooksInterface {
  Hooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool hasCUDA() const override { return devices > 0; }
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return devices > 0; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return devices; }
  int getNumGPUs() const override { return devices; }
  DeviceIndex current_device() const override { return sim::current_device; }
  DeviceIndex getCurrentDevice() const override { return sim::current_device; }
  void setCurrentDevice(DeviceIndex d) const override { sim::current_device = d; }
  DeviceIndex exchangeDevice(DeviceIndex d) const override {
    DeviceIndex before = sim::current_device;
    sim::current_device = d;
    return before;
  }
  DeviceIndex maybeExchangeDevice(DeviceIndex d) const override { return exchangeDevice(d); }
  const at::Generator& getDefaultGenerator(DeviceIndex d) const override { return generator(d); }
  at::Generator getNewGenerator(DeviceIndex) const override { return at::detail::createCPUGenerator(); }
  Device getDeviceFromPtr(void* p) const override {
    Locked l(guard);
    auto found = blocks.find(host_address(p));
    return Device(c10::kCUDA, found == blocks.end() ? sim::current_device : found->second.device);
  }
  bool isPinnedPtr(const void* p) const override { return is_pinned(p); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  c10::Allocator* getCUDADeviceAllocator() const override { return &device_allocator; }
  void deviceSynchronize(DeviceIndex) const override { synchronized("deviceSynchronize"); }
};

}  // namespace sim

// What the Python side calls through ctypes.
inline std::set<std::string> operators_seen, operators_refused;
inline bool float64_refused = false;  // as Apple's GPUs do
extern "C" {
void sim_devices(int n) { sim::devices = n; }
void sim_listen(sim::Listener l) { sim::listener = l; }
int sim_device() { return sim::current_device; }
void sim_set_device(int d) { sim::current_device = d; }
void sim_refuse(const char* name) { operators_refused.insert(name); }
void sim_allow(const char* name) { operators_refused.erase(name); }
void sim_float64(int allowed) { float64_refused = !allowed; }
void sim_fail(const char* name) { sim::faulty.insert(name); }
void sim_heal() { sim::faulty.clear(); sim::fault.clear(); }
void sim_limit(int device, long bytes) { sim::limit[device] = bytes; }
long sim_used(int device) { return sim::used[device]; }
long sim_peak(int device) { return sim::peak[device]; }
void sim_reset_peak(int device) { sim::peak[device] = sim::used[device]; }
int sim_new_stream(int) { sim::Locked l(sim::guard); return sim::streams_made++; }
int sim_stream(int device) { return sim::stream_of(device); }
void sim_set_stream(int device, int stream) { sim::current_streams[device] = stream; }
int sim_record(int event, int stream) {
  sim::Locked l(sim::guard);
  if (!event) event = ++sim::events_made;
  sim::events[event] = sim::clocks[stream];
  return event;
}
void sim_wait(int event, int stream) { sim::Locked l(sim::guard); sim::join(sim::clocks[stream], sim::events[event]); }
void sim_wait_stream(int stream, int other) { sim::Locked l(sim::guard); sim::join(sim::clocks[stream], sim::clocks[other]); }
// Not through `synchronized`: the caller, in Python, reports and raises.
void sim_land_event(int event) { sim::Clock c; { sim::Locked l(sim::guard); c = sim::events[event]; } sim::land(c); }
const char* sim_synchronize() { sim::land_all(); return sim::fault.c_str(); }
void sim_seed(int device, unsigned long seed) { sim::generator(device).set_current_seed(seed); }
void sim_random_state(int device, void* buffer, long bytes, int write) {
  auto& g = sim::generator(device);
  auto state = g.get_state();
  TORCH_CHECK(state.numel() == bytes, "a generator's state has ", state.numel(), " bytes");
  if (write) { memcpy(state.data_ptr(), buffer, bytes); g.set_state(state); }
  else memcpy(buffer, state.data_ptr(), bytes);
}
void sim_forget() { sim::Locked l(sim::guard); operators_seen.clear(); }
const char* sim_seen() {
  static std::string text;
  sim::Locked l(sim::guard);
  text.clear();
  for (auto& name : operators_seen) text += name + "\n";
  return text.c_str();
}
}
