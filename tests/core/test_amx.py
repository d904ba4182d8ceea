"""Virtual machines that announce AMX without describing its tiles."""

import os
import subprocess
import sys

import pytest

from mxnet._core.machine import amx

RECORD = "processor\t: 0\ncpuid level\t: {level}\nflags\t\t: fpu avx2 avx512f {flags}\n\nprocessor\t: 1\n"


@pytest.mark.parametrize(
    ("level", "flags", "hidden"), [(28, "amx_bf16 amx_tile", True), (32, "amx_bf16 amx_tile", False), (13, "", False)]
)
def test_the_tile_leaf_is_looked_for(level, flags, hidden):
    assert amx.lacks_tile_description(RECORD.format(level=level, flags=flags).splitlines(True)) is hidden


def test_other_systems_have_no_such_file(monkeypatch, tmp_path):
    monkeypatch.setattr(amx, "CPU_INFO", str(tmp_path / "none"))
    assert amx.limit_onednn() is False
    (tmp_path / "arm").write_text("processor\t: 0\nFeatures\t: fp asimd\n")
    monkeypatch.setattr(amx, "CPU_INFO", str(tmp_path / "arm"))
    assert amx.limit_onednn() is False


@pytest.mark.parametrize("own", [None, "AVX2"])
def test_a_user_s_own_limit_is_kept(monkeypatch, tmp_path, own):
    (tmp_path / "cpuinfo").write_text(RECORD.format(level=28, flags="amx_tile"))
    monkeypatch.setattr(amx, "CPU_INFO", str(tmp_path / "cpuinfo"))
    for name in amx.VARIABLES:
        monkeypatch.setenv(name, "")
    if own:
        monkeypatch.setenv("DNNL_MAX_CPU_ISA", own)
    assert amx.limit_onednn() is True
    assert os.environ["ONEDNN_MAX_CPU_ISA"] == ("" if own else amx.WITHOUT_AMX)


def test_a_bfloat16_product_survives():
    program = (
        "import torch, mxnet as mx; x = mx.nd.ones((64, 64)).astype('bfloat16')\n"
        "print(mx.nd.FullyConnected(x, x, num_hidden=64, no_bias=True).astype('float32').sum().asscalar())"
    )
    env = {name: value for name, value in os.environ.items() if name not in amx.VARIABLES}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.stdout.split() == [str(float(64**3))], done.stderr
