"""Changes of tensors are seen, large and small, whatever was kept of them."""

import pytest
import torch

from mxnet._core.writes import wrote
from mxnet._graph.inference import parameter_watch as unchanged
from mxnet._graph.inference.parameter_watch import SMALL, CopySnapshot, DigestSnapshot


def copies(tensors):
    return CopySnapshot(tensors)


def digests(tensors):
    pytest.importorskip("numba", reason="digests are made by loops that numba compiles")
    return DigestSnapshot(unchanged._loader.get(wait=True), tensors)


def tensors():
    torch.manual_seed(1)
    return [torch.randn(3, 5), torch.randn(SMALL + 1), torch.randn(7), torch.empty(0), torch.randn(64, SMALL // 32)]


@pytest.fixture(params=[copies, digests])
def seen(request):
    return request.param


def test_nothing_changed(seen):
    given = tensors()
    known = seen(given)
    assert all(known.compare(given)() for _ in range(3))
    assert known.compare([t.clone() for t in given])()  # the same values elsewhere
    assert known.compare([t.t().contiguous().t() if t.dim() == 2 else t for t in given])()  # in another order


def change_bit(t):
    t.view(-1).view(torch.int32)[-1] ^= 1


def change_sign_of_zero(t):
    t.view(-1)[0] = -0.0


def swap(t):
    flat = t.view(-1)
    flat[0], flat[3] = flat[3].clone(), flat[0].clone()


@pytest.mark.parametrize("number", [0, 1, 2, 4])
@pytest.mark.parametrize("change", [change_bit, change_sign_of_zero, swap])
def test_one_change(seen, change, number):
    given = tensors()
    given[number].view(-1)[0] = 0.0
    known = seen(given)
    assert known.compare(given)()
    change(given[number])
    wrote(given[number])
    assert not known.compare(given)()


def test_other_tensors(seen):
    given = tensors()
    known = seen(given)
    assert known.compare(given)()
    for other in (given[0].t(), given[0].double(), given[0].view(5, 3), given[0] * 2):
        assert not known.compare([other, *given[1:]])()
    square = [torch.randn(4, 4)]
    known = seen(square)
    assert known.compare(square)() and not known.compare([square[0].t()])()


def test_copies_become_digests_once_there_is_code_for_them():
    given = tensors()
    code = unchanged._loader.get(wait=True)
    known = CopySnapshot(given).digests()
    assert isinstance(known, DigestSnapshot) == (code is not None) and known.compare(given)()
    given[1][5] += 1
    wrote(given[1])
    assert not known.compare(given)()
