"""Kernels run by a team of native threads: every part once, whoever takes it, with memory of its own."""

import os

import numpy as np
import pytest
import torch

pytest.importorskip("numba")

from mxnet._kernels.runtime import buffers as sharing
from mxnet._kernels.runtime import plan_cache as plans
from mxnet._kernels.runtime import task as teams
from mxnet._kernels.runtime.simd import compiled, numbers, writes


@writes(1, floats=1)
def _put(write, address, value):
    write.store_scalar(value, address)


@writes(2, floats=1)
def _add(write, target, source, value):
    """Eight floats plus a number."""
    write.store(write.load(source) + write.broadcast(value), target)


@compiled("void(int64, float32, int64, int64)")
def add(values, summand, first, last):
    for place in range(values + 32 * first, values + 32 * last, 32):
        _add(place, place, summand)


@compiled(f"void({numbers(4)}, float32)")
def through_scratch(target, scratch, first, last, value):
    """Each float goes into the thread's own memory, and from there to its place."""
    for i in range(first, last):
        _put(scratch, value)
        _put(target + 4 * i, value)


@compiled("void(float64[::1], int64, int64)")
def without_entry(values, first, last):
    for i in range(first, last):
        values[i] += 1


@pytest.fixture(params=["team", "Python"])
def how(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(teams, "_team", lambda: None)
    elif teams._team() is None:
        pytest.skip("torch has no team of threads that is known")


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(("span", "most", "unit", "rounds"), [
    ((0, 100), 100, 1, 4), ((5, 64), 64, 1, 1), ((3, 50), 9, 7, 4), ((0, 1), 9, 1, 4), ((2, 31), 1, 4, 4),
    ((4, 0), 3, 1, 4),
])  # fmt: skip
def test_every_part_is_done_once(span, most, unit, rounds, threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    values = torch.zeros(120, 8)
    task = teams.Task(add, (values.data_ptr(), 0.5), span, most, unit, rounds=rounds)
    for turn in range(1, 4):
        task.run()
        wanted = torch.zeros(120, 8)
        wanted[span[0] : sum(span)] = 0.5 * turn
        assert torch.equal(values, wanted)


@pytest.mark.usefixtures("how")
def test_threads_have_memory_of_their_own(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    target = torch.zeros(1000)
    teams.Task(through_scratch, (target.data_ptr(), -1.5), (0, 1000), 50, scratch=16, held=target).run()
    assert (target == -1.5).all()


def test_kernels_that_no_table_can_hold_are_run_by_python(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    values = np.zeros(10)
    assert without_entry.entry is None
    teams.Task(without_entry, (values,), (0, 10), 10).run()
    assert values.tolist() == [1] * 10


@compiled(f"void({numbers(5)})")
def backwards(source, target, count, first, last):
    """Every value depends on one that another thread may have written in the task before."""
    for i in range(first, last):
        _add(target + 32 * i, source + 32 * (count - 1 - i), np.float32(1))


@pytest.mark.usefixtures("how")
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_a_chain_does_its_tasks_one_after_the_other(threads, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    one, other = torch.arange(5000.0), torch.zeros(5000)
    pairs = ((one, other), (other, one))
    there, back = (teams.Task(backwards, (a.data_ptr(), b.data_ptr(), 625), (0, 625), 40) for a, b in pairs)
    target = torch.zeros(100)
    scratched = teams.Task(through_scratch, (target.data_ptr(), 2.0), (0, 100), 50, scratch=16, held=target)
    exact = np.zeros(10)
    runs = teams.chained([there, back, scratched, teams.Task(without_entry, (exact,), (0, 10), 1), there, back])
    for _ in range(30):
        for run in runs:
            run.run()
    assert torch.equal(one, torch.arange(5000.0) + 120)
    assert exact.tolist() == [30] * 10 and (target == 2).all()


def test_tasks_in_a_chain_that_have_next_to_no_work():
    values = torch.zeros(6, 8)
    tasks = [teams.Task(add, (values.data_ptr(), 1.0), span, 9) for span in ((0, 0), (0, 1), (2, 0), (0, 6))]
    for run in teams.chained(tasks):
        run.run()
    assert values[:, 0].tolist() == [2, 1, 1, 1, 1, 1]


def test_entries_of_all_kernels_of_predictions():
    from mxnet._kernels.conv import direct_kernels as kernels
    from mxnet._kernels.conv.winograd import f2x2_kernels
    from mxnet._kernels.conv.winograd import transform_kernels as transforms
    from mxnet._kernels.matmul import micro_kernels
    from mxnet._kernels.norm import scale_shift_kernels
    from mxnet._kernels.pool import nhwc_kernels as pooling_kernels
    from mxnet._kernels.rnn import gru_kernels as recurrence_kernels
    from mxnet._kernels.rnn import lstm_kernels

    made = [kernels.dense, kernels.depthwise, kernels.pointwise_depthwise, kernels.pointwise_depthwise_panels]
    made += [micro_kernels.products, micro_kernels.products_transposed]
    made += [scale_shift_kernels.scale, scale_shift_kernels.concat]
    made += [pooling_kernels.max_pool, pooling_kernels.global_average_pool]
    made += [f2x2_kernels.input_transform, f2x2_kernels.output_transform]
    made += [transforms.input_transform, transforms.output_transform, transforms.gradient_transform]
    made += [transforms.input_adjoint, lstm_kernels.forward, lstm_kernels.backward]
    made += [recurrence_kernels.gru, recurrence_kernels.vanilla, recurrence_kernels.backward]
    assert all(kernel.entry for kernel in made)


@pytest.mark.parametrize(
    ("units", "most", "threads", "parts"),
    [(36, 8, 2, 6), (60, 7, 2, 6), (10, 7, 2, 6), (16, 8, 2, 8), (36, 12, 3, 12), (5, 4, 4, 4), (3, 2, 2, 2)],
)
def test_parts_with_which_threads_end_together(units, most, threads, parts):
    assert teams._fair(units, most, threads) == parts


def test_small_arrays_that_stay_lie_together():
    given = [np.arange(5), np.arange(0), np.arange(sharing._Arena.SIZE // 4), np.arange(7)]
    found = [sharing.persistent(array) for array in given]
    found[0][0] = 9
    for array, want in zip(found[1:], given[1:], strict=True):
        np.testing.assert_array_equal(array, want)
    assert found[0].tolist() == [9, 1, 2, 3, 4] and given[0][0] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_arrays_that_stay_are_each_processs_own():
    array = sharing.persistent(np.arange(3))
    child = os.fork()
    if not child:
        array[:] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and array.tolist() == [0, 1, 2]


def test_tensors_elsewhere():
    """Like those that are given, apart from each other; what is not there stays away."""
    given = [torch.randn(2, 16, 40, 40).contiguous(memory_format=torch.channels_last), None, torch.randn(9, 5)[2:, 1:3],
             torch.empty(0)]  # fmt: skip
    found = plans._elsewhere(given)
    assert found[1] is None
    pairs = [(a, b) for a, b in zip(given, found, strict=True) if a is not None]
    assert all(a.shape == b.shape and a.stride() == b.stride() and a.dtype is b.dtype for a, b in pairs)
    places = sorted((b.data_ptr(), a.untyped_storage().nbytes()) for a, b in pairs)
    assert all(first + size <= second for (first, size), (second, _) in zip(places, places[1:], strict=False))
