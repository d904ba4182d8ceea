"""A network compiled ahead of time by AOTInductor, loaded and run by a C++ program."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd
from mxnet.gluon import nn

PROGRAM = r"""
#include <ATen/ops/arange.h>
#include <iomanip>
#include <iostream>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

int main(int, char** arguments) {
  torch::inductor::AOTIModelPackageLoader loader(arguments[1]);
  at::Tensor input = at::arange(3 * 4, at::kFloat).reshape({3, 4}).div(10);
  at::Tensor output = loader.run({input})[0].contiguous();
  std::cout << std::setprecision(9);
  for (int64_t i = 0; i < output.numel(); ++i) std::cout << output.data_ptr<float>()[i] << "\n";
}
"""


def built(folder):
    """The program, compiled against the torch that is installed."""
    root = pathlib.Path(torch.__file__).parent
    source, target = folder / "main.cpp", folder / "main"
    source.write_text(PROGRAM)
    headers = [f"-I{root / 'include'}", f"-I{root / 'include' / 'torch' / 'csrc' / 'api' / 'include'}"]
    libraries = [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    command = ["g++", "-std=c++20", "-O0", abi, *headers, str(source), "-o", str(target), *libraries]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    return target


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs the compiler g++")
def test_cpp_program_computes_the_same(tmp_path):
    mx.random.seed(2)
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(nd.ones((2, 4)))
    net.export_torch(str(tmp_path / "model.pt2"))
    program = torch.export.load(str(tmp_path / "model.pt2"))
    package = torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "compiled.pt2"))
    result = subprocess.run([built(tmp_path), package], check=True, capture_output=True, text=True)
    values = np.array(result.stdout.split(), "float32").reshape(3, 3)  # another batch than the example's
    wanted = net(nd.array(np.arange(12).reshape(3, 4) / 10)).asnumpy()
    np.testing.assert_allclose(values, wanted, rtol=1e-5, atol=1e-6)
