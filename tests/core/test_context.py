"""Contexts: equality, scopes, and GPUs that are not there."""

import pickle
import threading

import pytest

import mxnet as mx


def test_contexts_compare_and_print_as_in_mxnet():
    assert mx.Context("gpu") == mx.gpu() and mx.Context("cpu", 1) == mx.cpu(1) != mx.cpu(0)
    assert str(mx.cpu(3)) == "cpu(3)" and repr(mx.gpu(1)) == "gpu(1)"
    assert mx.Context(mx.cpu(2)) == mx.cpu(2) and len({mx.cpu(0), mx.cpu(0), mx.cpu(1)}) == 2
    assert mx.cpu(1).device_type == "cpu" and mx.cpu(1).device_id == 1 and mx.cpu().device_typeid == 1
    assert pickle.loads(pickle.dumps(mx.cpu(2))) is mx.cpu(2)


def test_a_scope_sets_where_arrays_are_made_and_threads_do_not_see_it():
    seen = []
    with mx.cpu(1):
        assert mx.current_context() == mx.cpu(1)
        assert mx.nd.zeros((1,)).context == mx.cpu(1)
        thread = threading.Thread(target=lambda: seen.append(mx.current_context()))
        thread.start()
        thread.join()
        with mx.cpu(2):
            assert mx.nd.arange(3).context == mx.cpu(2)
        assert mx.current_context() == mx.cpu(1)
    assert seen == [mx.cpu(0)] and mx.current_context() == mx.cpu(0)


@pytest.mark.skipif(mx.context.num_gpus() > 0, reason="this machine has a GPU")
def test_a_missing_gpu_is_one_clear_sentence():
    words = r"gpu\(0\) is not available: this build of torch .* install one that has, use mx.cpu\(\)"
    with pytest.raises(mx.MXNetError, match=words):
        mx.nd.ones((2,), ctx=mx.gpu())


def test_virtual_gpus_run_gpu_code_on_the_cpu(monkeypatch):
    if mx.context.num_gpus() > 0:
        pytest.skip("this machine has a GPU")
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "2")
    assert mx.context.num_gpus() == 2
    x = mx.nd.array([1, 2, 3], ctx=mx.gpu(1))
    assert (x * 2).context == mx.gpu(1) and "@gpu(1)" in repr(x)
    assert x.as_in_context(mx.gpu(1)) is x
    y = x.copyto(mx.cpu())
    assert y.context == mx.cpu(0)
    with pytest.raises(mx.MXNetError, match="in one context.*as_in_context"):
        x + y
    monkeypatch.delenv("MXNET_VIRTUAL_GPUS")
    with pytest.raises(mx.MXNetError, match="is not available"):
        mx.nd.ones((2,), ctx=mx.gpu(1))


def test_unknown_device():
    with pytest.raises(KeyError, match="^unknown device type 'tpu'; use one of cpu, gpu, "):
        mx.Context("tpu")


def test_a_string_may_name_a_context():
    for make in (mx.nd.ones, mx.nd.zeros, mx.nd.arange, mx.nd.empty, lambda n, ctx: mx.nd.array([1] * n, ctx=ctx)):
        assert make(3, ctx="cpu(1)").context is mx.cpu(1)
    assert mx.nd.full(3, 7, ctx="cpu(1)").context is mx.cpu(1)
    assert mx.nd.random.uniform(shape=3, ctx="cpu(1)").context is mx.cpu(1)


@pytest.mark.parametrize("wrong", ["cpu", "gpu", "tpu(0)", 0, mx.cpu])
def test_what_is_no_context(wrong):
    with pytest.raises(mx.MXNetError, match=r"^Invalid context string .*: a context is mx.cpu\(\), mx.gpu\(0\) or"):
        mx.nd.ones(3, ctx=wrong)
    with pytest.raises((AttributeError, TypeError), match="ctx must be a Context"):
        mx.gluon.nn.Dense(2, in_units=2).initialize(ctx=wrong)
