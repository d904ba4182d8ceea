"""The commands of `remx`, called as a person calls them."""

import importlib.util
import json
import re
import select
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet.cli import main


@pytest.fixture
def prefix(save_network):
    """A saved network for images of one channel."""
    return save_network(1, 3)


def test_info_tells_versions_and_devices(capsys):
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    for word in ("remx", mx.__remx_version__, "1.9.1", "torch", "mx.cpu()", "opencv-python-headless", "features"):
        assert word in out


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"remx {mx.__remx_version__} (the API of MXNet 1.9.1)\n"


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    commands = (
        "info demo summary plot convert im2rec launch serve bench check run selftest explain warmup completion"
    ).split()
    for command in commands:
        assert re.search(rf"^ +{command} ", out, re.M)


@pytest.mark.skipif(not hasattr(select, "poll"), reason="Windows tells of it in other ways")
def test_a_reader_that_goes_away_ends_a_command_quietly():
    command = [sys.executable, "-m", "remx", "check", __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 141)


def test_other_broken_pipes_are_told(monkeypatch, capsys):
    def broken(options):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("mxnet.cli.check.run", broken)
    assert main(["check", "x.py"]) == 1
    assert capsys.readouterr().err == "remx check: [Errno 32] Broken pipe\n"


def test_tools_parse_their_own_arguments(capsys):
    for tool, word in (("demo", "--epochs"), ("im2rec", "--recursive"), ("launch", "--num-workers")):
        with pytest.raises(SystemExit) as end:
            main([tool, "--help"])
        assert end.value.code == 0
        assert word in capsys.readouterr().out


def test_tools_tell_their_faults_in_a_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.jpg").write_bytes(b"no image")
    assert main(["im2rec", str(tmp_path / "nowhere" / "x"), str(tmp_path), "--list"]) == 1
    assert capsys.readouterr().err.startswith("remx im2rec: [Errno 2] No such file or directory")
    assert main(["im2rec", str(tmp_path / "x"), str(tmp_path), "--list"]) == 0
    for name in ("cv2", "mxnet._core.shims.opencv"):  # as without OpenCV and Pillow
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["im2rec", str(tmp_path / "x"), str(tmp_path), "--quiet"]) == 1
    assert "pip install 'remx[image]'" in capsys.readouterr().err


def test_the_demo_needs_no_optional_package(tmp_path, monkeypatch, capsys):
    for name in ("tqdm", "matplotlib", "cv2"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "mxnet.tools.demo", raising=False)
    assert main(["demo", "--epochs", "1", "--examples", "64", "--output", str(tmp_path)]) == 0
    assert "remx[image]" in capsys.readouterr().out
    assert (tmp_path / "lenet-0001.params").is_file()


def test_summary(prefix, capsys):
    assert main(["summary", prefix, "--shape", "data=1,1,8,8"]) == 0
    out = capsys.readouterr().out
    assert "net_conv0_fwd(Convolution)" in out
    assert "4x6x6" in out
    assert f"Total params: {4 * 9 + 4 + 2 * 4 + 144 * 10 + 10}" in out
    assert main(["summary", prefix]) == 0
    out = capsys.readouterr().out
    assert "(assumed; give --shape for another)" in out
    count = 4 * 9 + 4 + 4 * 4 + 144 * 10 + 10
    assert out.endswith(f"net-0003.params: 8 arrays, {count:,} numbers, {4 * count:,} bytes\n")


def test_a_wrong_prefix_names_the_right_ones(prefix, capsys):
    assert main(["summary", prefix + "x"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("remx summary: there is no file") and error.endswith("prefixes there: net\n")


@pytest.mark.parametrize("shape", ["1,x,2", "1,,2", "data=", "1,-3", "a"])
def test_a_wrong_shape_is_refused(prefix, shape, capsys):
    with pytest.raises(SystemExit) as end:
        main(["summary", prefix, "--shape", shape])
    assert end.value.code == 2 and "is not a shape" in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys):
    assert main(["check", "nowhere.py"]) == 2
    assert capsys.readouterr().err == "remx check: there is no file nowhere.py\n"


def test_plot_needs_no_graphviz(prefix, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    path = tmp_path / "net.svg"
    assert main(["plot", prefix, "-o", str(path), "--shape", "1,1,8,8"]) == 0
    texts = ["".join(e.itertext()) for e in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Convolution", "3x3/1x1, 4", "4×6×6"} <= set(texts)
    assert main(["plot", prefix, "-o", str(tmp_path / "net.png")]) == 1
    assert "choose .svg or .dot" in capsys.readouterr().err
    assert main(["plot", prefix, "-o", str(tmp_path / "net.dot")]) == 0
    assert (tmp_path / "net.dot").read_text().startswith("digraph")


def test_convert_to_safetensors_and_back(prefix, tmp_path):
    assert main(["convert", prefix, str(tmp_path / "a.safetensors")]) == 0
    assert main(["convert", str(tmp_path / "a.safetensors"), str(tmp_path / "deep" / "back")]) == 0
    before, after = nd.load(f"{prefix}-0003.params"), nd.load(str(tmp_path / "deep" / "back-0000.params"))
    assert set(before) == set(after)
    for name, value in before.items():
        np.testing.assert_array_equal(value.asnumpy(), after[name].asnumpy())
    old, new = (json.loads(open(f"{p}-symbol.json").read()) for p in (prefix, tmp_path / "deep" / "back"))
    assert old["nodes"] == new["nodes"]


def test_convert_gives_plain_names_their_kind(prefix, tmp_path):
    arrays = {name.split(":")[1]: value for name, value in nd.load(f"{prefix}-0003.params").items()}
    nd.save(str(tmp_path / "net.safetensors"), arrays)
    assert main(["convert", str(tmp_path / "net.safetensors"), str(tmp_path / "out")]) == 0
    names = set(nd.load(str(tmp_path / "out-0000.params")))
    assert names == set(nd.load(f"{prefix}-0003.params"))


def test_convert_to_onnx(prefix, tmp_path, capsys):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    path = str(tmp_path / "net.onnx")
    assert main(["convert", prefix, path]) == 1
    assert "--shape data=" in capsys.readouterr().err
    assert main(["convert", prefix, path, "--shape", "1,1,8,8"]) == 0
    x = np.random.rand(1, 1, 8, 8).astype("float32")
    net = mx.gluon.SymbolBlock.imports(f"{prefix}-symbol.json", ["data"], f"{prefix}-0003.params")
    session = runtime.InferenceSession(path)
    (out,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(out, net(nd.array(x)).asnumpy(), rtol=1e-4, atol=1e-5)
    back = str(tmp_path / "back")
    assert main(["convert", path, back]) == 0
    inputs = [name for name in mx.sym.load(f"{back}-symbol.json").list_inputs() if "data" in name]
    again = mx.gluon.SymbolBlock.imports(f"{back}-symbol.json", inputs, f"{back}-0000.params")
    np.testing.assert_allclose(again(nd.array(x)).asnumpy(), out, rtol=1e-4, atol=1e-5)


def test_convert_without_a_graph_says_which_file_it_wants(prefix, tmp_path, capsys):
    nd.save(str(tmp_path / "lone.params"), {"arg:w": nd.ones((2,))})
    assert main(["convert", str(tmp_path / "lone.params"), str(tmp_path / "out")]) == 1
    assert "lone-symbol.json is not there" in capsys.readouterr().err


def test_bench_measures(capsys):
    assert main(["bench", "--calls", "5", "--rounds", "1"]) == 0
    out = capsys.readouterr().out
    assert "a.sum(axis=1)" in out and "LeNet, hybridized" in out


def test_selftest_compares_a_device_with_the_cpu(tmp_path, capsys, monkeypatch):
    from itertools import islice

    from mxnet.cli._selftest import operators, training

    every, networks = operators.samples, training._networks
    monkeypatch.setattr(operators, "samples", lambda: islice(every(), 30))
    monkeypatch.setattr(training, "_networks", lambda: dict(islice(networks().items(), 2)))
    path = tmp_path / "report.json"
    assert main(["selftest", "--device", "cpu", "--no-speed", "--json", str(path)]) == 0
    report = json.loads(path.read_text())
    assert report["operators"] == {"passed": 30, "failed": []} and len(report["trainings"]) == 2
    assert report["facts"]["device"] == "cpu(0)" and "30 samples equal the CPU's, 0 do not" in capsys.readouterr().out


def test_selftest_tells_what_differs(capsys, monkeypatch):
    from mxnet.cli._selftest import operators

    run, calls = operators._run, []

    def wrong(ctx, *sample):
        calls.append(sample[0])
        results = run(ctx, *sample)
        return [r + 1 for r in results] if len(calls) % 2 == 0 else results

    monkeypatch.setattr(operators, "_run", wrong)
    monkeypatch.setattr(operators, "samples", lambda: [("exp", {}, [np.ones(3, "float32")], False, [0])])
    assert operators.check(mx.cpu()) == (0, [("exp", "array 0 differs by up to 1")])


def test_selftest_without_a_gpu_says_what_is_missing(capsys):
    if mx.context.num_gpus():
        pytest.skip("this machine has a GPU")
    assert main(["selftest", "--device", "gpu"]) != 0
    assert "gpu(0) is not available" in capsys.readouterr().err
