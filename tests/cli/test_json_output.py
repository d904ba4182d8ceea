"""`--json`: what commands tell other programs; costs of networks, checks of ONNX files, completion, the launcher."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxnet as mx
from mxnet import gluon, nd
from mxnet.cli import main
from mxnet.cli._costs import costs, guessed_shape


@pytest.fixture
def prefix(save_network):
    """A saved convolution net that fits 8 x 8 images only."""
    return save_network(2, 0)


def told(capsys, *arguments, code=0):
    assert main(list(arguments)) == code
    return json.loads(capsys.readouterr().out)


def test_info_is_what_a_report_needs(capsys, monkeypatch):
    monkeypatch.setenv("MXNET_KERNELS", "auto")
    monkeypatch.setenv("MXNET_TEST_SECRET", "hush")
    found = told(capsys, "info", "--json")
    assert found["versions"]["remx"] == mx.__remx_version__
    assert found["machine"]["memory"] > 2**20 and found["machine"]["processor"]
    assert "/dev/shm" in found["machine"]
    assert found["variables"]["MXNET_KERNELS"] == "auto" and "hush" not in json.dumps(found)
    assert {"data sets and models", "compiled kernels"} <= set(found["folders"])
    assert [kernel["name"] for kernel in found["kernels"]] == [kernel.name for kernel in mx.runtime.kernels()]
    assert set(found["packages"]) >= {"numba", "tqdm", "opencv-python-headless"}


def test_check(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import mxnet as mx\nmx.nd.nothing()\n")
    found = told(capsys, "check", str(tmp_path), "--json", code=1)
    assert found["counts"]["missing"] == 1
    assert found["remarks"][0]["where"].endswith("a.py:2") and found["remarks"][0]["name"] == "mxnet.ndarray.nothing"


FLOPS = 2 * 4 * 6 * 6 * 2 * 9 + 2 * 144 * 10  # a sum over 2 x 3 x 3 for each of 4 x 6 x 6, and over 144 for each of 10


@pytest.mark.parametrize("shape", [(), ("--shape", "data=1,2,8,8")])
def test_summary_counts_with_and_without_a_shape(prefix, capsys, shape):
    found = told(capsys, "summary", prefix, "--json", *shape)
    count = 4 * 18 + 4 + 4 * 4 + 1440 + 10
    assert (found["parameters"], found["bytes"], found["flops"]) == (count, 4 * count, FLOPS)
    assert found["shape"] == {"data": [1, 2, 8, 8]} and found["shape_assumed"] is not bool(shape)
    assert found["inputs"] == ["data"]
    assert main(["summary", prefix, *shape]) == 0
    out = capsys.readouterr().out
    assert f"{FLOPS:,} FLOPs in a forward pass of data=1,2,8,8" in out
    assert f"Total params: {count - 2 * 4}" in out and "4x6x6" in out  # MXNet's table leaves out moving statistics


def test_networks_that_fit_any_size_are_counted_at_224():
    net = gluon.model_zoo.vision.resnet18_v1()
    net.initialize()
    net(nd.ones((1, 3, 32, 32)))
    symbol = net(mx.sym.var("data"))
    found = costs(symbol, {name: p.data() for name, p in net.collect_params().items()}, {})
    assert found["shape"] == {"data": [1, 3, 224, 224]}
    assert 3.6e9 < found["flops"] < 3.7e9  # 1.8 billion multiply-adds, as in the paper's table


def test_recurrent_layers_and_products():
    sequence, state = mx.sym.var("x"), mx.sym.var("state")
    rnn = mx.sym.RNN(sequence, mx.sym.var("w"), state, mx.sym.var("cell"), state_size=5, num_layers=2, mode="lstm")
    found = costs(rnn, {}, {"x": (7, 3, 4), "state": (2, 3, 5), "cell": (2, 3, 5)})
    assert found["flops"] == 2 * 7 * 3 * 4 * 5 * ((4 + 5) + (5 + 5))
    product = mx.sym.dot(mx.sym.var("a"), mx.sym.var("b"), transpose_a=True)
    assert costs(product, {}, {"a": (6, 2), "b": (6, 3)})["flops"] == 2 * 6 * 2 * 3


def test_a_shape_that_cannot_be_found_is_not_made_up():
    two = mx.sym.var("a") + mx.sym.var("b")
    assert guessed_shape(two, {}) == {}
    assert costs(two, {}, {})["flops"] is None


def test_convert_to_onnx_compares_outputs(prefix, tmp_path, capsys, monkeypatch):
    pytest.importorskip("onnxruntime")
    path = str(tmp_path / "net.onnx")
    found = told(capsys, "convert", prefix, path, "--shape", "1,2,8,8", "--json")
    assert found["files"] == [path] and 0 <= found["difference"] < 1e-4
    assert main(["convert", prefix, path, "--shape", "1,2,8,8"]) == 0
    assert re.search(r"largest difference \d", capsys.readouterr().out)
    from mxnet.cli import _onnx_check

    other = _onnx_check._runtime_outputs
    monkeypatch.setattr(_onnx_check, "_runtime_outputs", lambda *a: [2 * out + 1 for out in other(*a)])
    assert main(["convert", prefix, path, "--shape", "1,2,8,8"]) == 1
    assert "differ from the network's by up to" in capsys.readouterr().err


def test_convert_of_arrays_compares_nothing(prefix, tmp_path, capsys):
    found = told(capsys, "convert", prefix, str(tmp_path / "net.npz"), "--json")
    assert found["difference"] is None and found["arrays"] == 8


def test_bench(capsys):
    found = told(capsys, "bench", "--calls", "5", "--rounds", "1", "--json")
    assert found["calls"][0]["remx_us"] > 0 and found["networks"][1]["trained_images_per_second"] > 0


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(shell, capsys):
    from mxnet.cli import _COMMANDS, _TOOLS

    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    for command in (*_COMMANDS, *_TOOLS):
        assert re.search(rf"\b{command}\b", out)
    assert re.search(r"--json|-l json", out)


@pytest.mark.parametrize(
    "typed,offered",
    [
        ("su", "summary"),
        ("--v", "--version"),
        ("summary --js", "--json"),
        ("summary ''", ""),  # bash then completes files
        ("completion ''", "bash fish zsh"),
        ("demo --s", "--serve"),
        ("launch --max", "--max-restarts"),
        ("launch --node", ""),  # what the launcher says to itself
        ("im2rec --enc", "--encoding"),
        ("nonsense -", ""),
    ],
)
def test_bash_completes(typed, offered, capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    ask = f'COMP_WORDS=(remx {typed}) COMP_CWORD={len(typed.split())}; _remx; echo "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (offered, "")


def test_fish_can_read_every_line(capsys):
    """Words, or texts in quotes, in which fish reads a backslash before a quote or a backslash only."""
    assert main(["completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"complete( ([\w-]+|'([^'\\]|\\['\\])*'))+", line) for line in lines)
    assert any(
        line.endswith(r"-d 'run every operator and small trainings on this machine\'s GPU, beside its CPU'")
        for line in lines
    )


def test_completion_needs_no_torch():
    program = "import sys; from mxnet.cli import main; main(['completion', 'bash']); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("program", ["remx", "im2rec"])
def test_an_old_mxnet_is_told_without_a_traceback(program, tmp_path):
    source = Path(mx.__file__).parents[1]
    site = tmp_path / "site"
    site.mkdir()
    (site / "mxnet_cu112-1.9.1.dist-info").mkdir()
    (site / "remx.py").symlink_to(source / "remx.py")
    copied = site / "mxnet"
    shutil.copytree(source / "mxnet" / "_core", copied / "_core", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "mxnet" / "__init__.py", copied)
    done = subprocess.run(
        [sys.executable, "-c", f"import remx, sys; sys.exit(remx.{program.replace('remx', 'main')}())"],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{program}: An old MXNet (the distribution mxnet-cu112) is installed")


def test_warmup(capsys):
    pytest.importorskip("numba")
    from mxnet.cli import warmup

    found = told(capsys, "warmup", "--json")
    assert found["folder"] and found["seconds"] > 0
    listed = {kernel.name: kernel.state for kernel in mx.runtime.kernels()}
    assert set(listed.values()) <= {"ready", "unavailable"}
    source = Path(warmup.__file__).parents[1]
    paths = [path for folder in ("_ops", "_graph") for path in (source / folder).rglob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    loading = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path, text in texts.items()
        if re.search(r"= (?:CompiledModule|Loader)\(", text)
    }
    assert loading == set(warmup._OUTSIDE)
