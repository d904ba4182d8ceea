"""The part of `torch.cuda` that a CPU build lacks, on top of the simulation: streams, events, memory, random state."""

import ctypes
import types

import torch

from . import _RANDOM_STATE, _STATE, CAPACITY, graphs, note

LIBRARY = None


def index_of(device):
    """The number of a device given as number, name, `torch.device` or None."""
    if device is None:
        return LIBRARY.sim_device()
    if isinstance(device, int):
        return device
    number = torch.device(device).index
    return LIBRARY.sim_device() if number is None else number


def synchronize(device=None, what="torch.cuda.synchronize"):
    """Wait for everything; raises what a device has to report late."""
    note("sync", what)
    if _STATE["capturing"]:
        raise RuntimeError(graphs.REFUSED)
    fault = LIBRARY.sim_synchronize().decode()
    if fault:
        raise RuntimeError(f"CUDA error: {fault}")


class Event:
    """A place in a stream."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self.number = 0

    def record(self, stream=None):
        self.number = LIBRARY.sim_record(self.number, (stream or current_stream()).number)

    def wait(self, stream=None):
        LIBRARY.sim_wait(self.number, (stream or current_stream()).number)

    def synchronize(self):
        note("sync", "Event.synchronize")
        LIBRARY.sim_land_event(self.number)

    def query(self):
        return True

    def elapsed_time(self, other):
        return 1.0


class Stream:
    """A queue of work."""

    def __init__(self, device=None, priority=0, number=None):
        self.device_index = index_of(device)
        self.number = LIBRARY.sim_new_stream(self.device_index) if number is None else number

    @property
    def device(self):
        return torch.device("cuda", self.device_index)

    @property
    def cuda_stream(self):
        return 0

    def wait_stream(self, other):
        LIBRARY.sim_wait_stream(self.number, other.number)

    def wait_event(self, event):
        event.wait(self)

    def record_event(self, event=None):
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self):
        synchronize(what="Stream.synchronize")

    def query(self):
        return True

    def __eq__(self, other):
        return isinstance(other, Stream) and other.number == self.number

    def __hash__(self):
        return hash(self.number)


class StreamScope:
    """`with torch.cuda.stream(s):`"""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self.device = LIBRARY.sim_device()
            LIBRARY.sim_set_device(self.stream.device_index)
            self.before = LIBRARY.sim_stream(self.stream.device_index)
            LIBRARY.sim_set_stream(self.stream.device_index, self.stream.number)
        return self

    def __exit__(self, *error):
        if self.stream is not None:
            LIBRARY.sim_set_stream(self.stream.device_index, self.before)
            LIBRARY.sim_set_device(self.device)


class DeviceScope:
    """`with torch.cuda.device(d):`"""

    def __init__(self, device):
        self.index = index_of(device)

    def __enter__(self):
        self.before = LIBRARY.sim_device()
        LIBRARY.sim_set_device(self.index)

    def __exit__(self, *error):
        LIBRARY.sim_set_device(self.before)


def current_stream(device=None):
    """The stream that work of a device goes to."""
    number = index_of(device)
    return Stream(number, number=LIBRARY.sim_stream(number))


def default_stream(device=None):
    """The stream that nobody chose."""
    number = index_of(device)
    return Stream(number, number=number)


def _record_stream(tensor, stream):
    if isinstance(stream, Stream):
        stream = torch._C.Stream(stream_id=stream.number, device_index=stream.device_index, device_type=1)
    return _RECORD(tensor, stream)


_RECORD = torch.Tensor.record_stream


def _random_state(device="cuda"):
    buffer = ctypes.create_string_buffer(_RANDOM_STATE)
    LIBRARY.sim_random_state(index_of(device), buffer, _RANDOM_STATE, 0)
    return torch.frombuffer(bytearray(buffer.raw), dtype=torch.uint8).clone()


def _set_random_state(state, device="cuda"):
    content = ctypes.create_string_buffer(state.numpy().tobytes(), _RANDOM_STATE)
    LIBRARY.sim_random_state(index_of(device), content, _RANDOM_STATE, 1)


def _properties(device=None):
    return types.SimpleNamespace(
        name="simulated", total_memory=CAPACITY, major=8, minor=0, multi_processor_count=1, is_integrated=0
    )


def install(library, devices):
    """Put it all into `torch.cuda`."""
    global LIBRARY
    LIBRARY = library
    cuda = torch.cuda
    values = {
        "_lazy_init": lambda: None,
        "_initialized": True,
        "is_available": lambda: devices > 0,
        "is_initialized": lambda: True,
        "device_count": lambda: devices,
        "current_device": lambda: library.sim_device(),
        "set_device": lambda d: library.sim_set_device(index_of(d)),
        "device": DeviceScope,
        "synchronize": synchronize,
        "Event": Event,
        "Stream": Stream,
        "stream": StreamScope,
        "StreamContext": StreamScope,
        "current_stream": current_stream,
        "default_stream": default_stream,
        "empty_cache": lambda: note("empty_cache", str(library.sim_device())),
        "mem_get_info": lambda device=None: (CAPACITY - library.sim_used(index_of(device)), CAPACITY),
        "is_current_stream_capturing": lambda: _STATE["capturing"],
        "CUDAGraph": graphs.CUDAGraph,
        "graph": graphs.graph,
        "graph_pool_handle": graphs.new_pool,
        "memory_allocated": lambda device=None: library.sim_used(index_of(device)),
        "memory_reserved": lambda device=None: library.sim_used(index_of(device)),
        "max_memory_allocated": lambda device=None: library.sim_peak(index_of(device)),
        "reset_peak_memory_stats": lambda device=None: library.sim_reset_peak(index_of(device)),
        "get_device_capability": lambda device=None: (8, 0),
        "get_device_name": lambda device=None: "simulated",
        "get_device_properties": _properties,
        "manual_seed": lambda n: library.sim_seed(library.sim_device(), n % 2**64),
        "manual_seed_all": lambda n: [library.sim_seed(d, n % 2**64) for d in range(devices)],
        "get_rng_state": _random_state,
        "set_rng_state": _set_random_state,
        "get_rng_state_all": lambda: [_random_state(d) for d in range(devices)],
        "set_rng_state_all": lambda states: [_set_random_state(s, d) for d, s in enumerate(states)],
    }
    for name, value in values.items():
        setattr(cuda, name, value)
    torch._C._cuda_endAllocateToPool = graphs.end_allocation
    torch._C._cuda_getDevice = lambda: library.sim_device()
    torch.backends.cuda.is_built = lambda: True
    torch.backends.cudnn.is_available = lambda: False
    torch._C._cuda_isInBadFork = False
    torch.Tensor.record_stream = _record_stream
