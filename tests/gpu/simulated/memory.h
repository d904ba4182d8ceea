// Device memory of the simulation: host memory behind addresses that the host cannot read, and who used it last.
#pragma once
#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace sim {

using c10::Device;
using c10::DeviceIndex;

constexpr int MOST_DEVICES = 8;
constexpr size_t LINE = 64;

// An address with this bit set belongs to no process: a kernel or a memcpy of the host that reads it faults.
constexpr uintptr_t DEVICE_BIT = uintptr_t(1) << 62;
inline void* host_address(const void* p) { return (void*)((uintptr_t)p & ~DEVICE_BIT); }
inline void* device_address(const void* p) { return p ? (void*)((uintptr_t)p | DEVICE_BIT) : nullptr; }
inline bool is_device_address(const void* p) { return (uintptr_t)p & DEVICE_BIT; }

typedef void (*Listener)(const char* kind, const char* what);
inline Listener listener = nullptr;
inline void report(const char* kind, const std::string& what) {
  if (listener) listener(kind, what.c_str());
}

inline std::mutex guard;
typedef std::lock_guard<std::mutex> Locked;
inline DeviceIndex devices = 2;
inline thread_local DeviceIndex current_device = 0;

// ---------------------------------------------------------------- streams: a clock each, and what each has waited for
typedef std::map<int, uint64_t> Clock;
inline std::map<int, Clock> clocks;            // stream -> stream -> the last work of it that is known to be finished
inline std::map<int, Clock> events;
inline int streams_made = MOST_DEVICES, events_made = 0;  // stream i below MOST_DEVICES is the default one of device i
inline thread_local int current_streams[MOST_DEVICES] = {0, 1, 2, 3, 4, 5, 6, 7};
inline int stream_of(DeviceIndex device) { return current_streams[device]; }
inline void join(Clock& into, const Clock& other) {
  for (auto& [stream, tick] : other) into[stream] = std::max(into[stream], tick);
}

// ---------------------------------------------------------------- blocks: who wrote and read them, on which stream
struct Block {
  size_t bytes;
  DeviceIndex device;
  int home;                 // the stream that allocated it: whoever frees it hands it to that stream's next allocation
  int writer;
  uint64_t written;
  Clock readers;
  std::set<int> recorded;   // by Tensor.record_stream: the allocator waits for these
};
inline std::map<const void*, Block> blocks;
inline std::map<const void*, std::string> races;
inline long used[MOST_DEVICES], peak[MOST_DEVICES], limit[MOST_DEVICES];

inline void take(const void* host, size_t bytes, DeviceIndex device) {
  Locked l(guard);
  if (limit[device] && used[device] + (long)bytes > limit[device])
    TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ", bytes / 1048576.0,
                     " MiB. GPU ", (int)device, " has a total capacity of ", limit[device] / 1048576.0,
                     " MiB of which ", (limit[device] - used[device]) / 1048576.0, " MiB is free.");
  used[device] += bytes;
  peak[device] = std::max(peak[device], used[device]);
  int stream = stream_of(device);
  blocks[host] = Block{bytes, device, stream, stream, clocks[stream][stream], {}, {}};
}

inline void give_back(const void* host) {
  std::string race;
  {
    Locked l(guard);
    auto found = blocks.find(host);
    if (found == blocks.end()) return;
    Block& block = found->second;
    for (auto& [stream, tick] : block.readers)
      if (stream != block.home && !block.recorded.count(stream) && clocks[block.home][stream] < tick)
        race = "memory freed while another stream reads it (record_stream is missing)";
    used[block.device] -= block.bytes;
    blocks.erase(found);
  }
  if (!race.empty()) report("race", race);
}

// Work of the current stream of `device` on a block; the text says what is wrong, if anything is.
inline void touch(const void* device_pointer, bool writes, const std::string& what) {
  if (!device_pointer) return;
  std::string race;
  {
    Locked l(guard);
    auto found = blocks.find(host_address(device_pointer));
    if (found == blocks.end()) return;
    Block& block = found->second;
    int stream = stream_of(block.device);
    Clock& known = clocks[stream];
    if (block.writer != stream && known[block.writer] < block.written) race = what + ": reads what another stream still writes";
    if (writes)
      for (auto& [reader, tick] : block.readers)
        if (reader != stream && known[reader] < tick) race = what + ": writes what another stream still reads";
    uint64_t tick = ++known[stream];
    if (writes) { block.writer = stream; block.written = tick; block.readers.clear(); }
    else block.readers[stream] = tick;
  }
  if (!race.empty()) report("race", race);
}

struct DeviceAllocator final : c10::Allocator {
  static void release(void* p) {
    if (!p) return;
    give_back(host_address(p));
    free(host_address(p));
  }
  c10::DataPtr allocate(size_t n) override {
    Device device(c10::kCUDA, current_device);
    if (!n) return {nullptr, nullptr, &release, device};
    void* host = aligned_alloc(LINE, (n + LINE - 1) / LINE * LINE);
    TORCH_CHECK_WITH(OutOfMemoryError, host, "CUDA out of memory. Tried to allocate ", n / 1048576.0, " MiB.");
    try { take(host, n, current_device); } catch (...) { free(host); throw; }
    void* p = device_address(host);
    return {p, p, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t n) const override { memcpy(host_address(to), host_address(from), n); }
};
inline DeviceAllocator device_allocator;

// ---------------------------------------------------------------- pinned memory and the copies that still read it
struct Flight {  // an asynchronous copy out of pinned memory, finished once its stream's tick is waited for by the host
  const void* source;
  std::vector<char> content;
  int stream;
  uint64_t tick;
};
inline std::vector<Flight> flights;
inline std::map<const void*, size_t> pinned;
inline bool is_pinned(const void* p) {
  Locked l(guard);
  auto after = pinned.upper_bound(p);
  if (after == pinned.begin()) return false;
  --after;
  return (const char*)p < (const char*)after->first + std::max<size_t>(after->second, 1);
}

// The host has waited for everything in `reached`: sources of copies that were changed before that are reported.
inline void land(const Clock& reached) {
  bool changed = false;
  {
    Locked l(guard);
    std::vector<Flight> left;
    for (auto& flight : flights) {
      auto at = reached.find(flight.stream);
      if (at == reached.end() || at->second < flight.tick) { left.push_back(std::move(flight)); continue; }
      changed |= memcmp(flight.source, flight.content.data(), flight.content.size()) != 0;
    }
    flights.swap(left);
  }
  if (changed) report("race", "pinned memory was written while a copy still read it");
}
inline void land_all() {
  Clock reached;
  { Locked l(guard); for (auto& [stream, clock] : clocks) reached[stream] = ~uint64_t(0); }
  land(reached);
}

struct PinnedAllocator final : c10::Allocator {
  static void release(void* p) {  // torch's own keeps a block until the copies that read it are done
    if (!p) return;
    Locked l(guard);
    const char* begin = (const char*)p; const char* end = begin + pinned[p];
    std::erase_if(flights, [&](const Flight& f) { return f.source >= begin && f.source < end; });
    pinned.erase(p);
    free(p);
  }
  c10::DataPtr allocate(size_t n) override {
    void* p = aligned_alloc(LINE, (n + LINE) / LINE * LINE);
    Locked l(guard);
    pinned[p] = n;
    return {p, p, &release, Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t n) const override { memcpy(to, from, n); }
};
inline PinnedAllocator pinned_allocator;

// ---------------------------------------------------------------- errors that a device reports late
inline std::string fault;          // stays, as CUDA's do, until the test clears it
inline std::set<std::string> faulty;
inline void synchronized(const std::string& what) {
  report("sync", what);
  land_all();
  if (!fault.empty()) TORCH_CHECK(false, "CUDA error: ", fault);
}

}  // namespace sim
