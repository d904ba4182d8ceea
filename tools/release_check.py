"""Build sdist and wheel, install the wheel into an empty environment, run the README's commands and programs there.

`make release-check` runs it; the files stay in dist/. Versions come from constraints.txt.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SDIST_HAS = ("Makefile", "constraints.txt", "CHANGELOG.md", "NOTICE", "LICENSE", "tests", "tools", "examples", "docs")
WHEEL_HAS = ("remx.py", "mxnet/__init__.py", "mxnet/py.typed", "mxnet/__init__.pyi", "mxnet/_data/digits.npz")
SMOKE = """
import mxnet as mx
from pathlib import Path
assert "site-packages" in mx.__file__, mx.__file__
x = mx.nd.ones((2, 3))
x.attach_grad()
with mx.autograd.record():
    y = (x * x).sum()
y.backward()
assert x.grad.asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]
mx.nd.save("x.params", {"x": x})
assert mx.nd.load("x.params")["x"].shape == (2, 3)
assert mx.image.imresize(mx.nd.ones((4, 4, 3), dtype="uint8"), 2, 2).shape == (2, 2, 3)
net = mx.gluon.model_zoo.vision.get_model("resnet18_v1")
net.initialize()
net.hybridize()
assert net(mx.nd.ones((1, 3, 64, 64))).shape == (1, 1000)
"""
DEMO_LEAVES = ("lenet-symbol.json", "curve.png", "digits.png", "confusion.png")
COMMANDS = """
remx --version
remx info --json
remx completion bash
remx demo --output demo
remx summary demo/lenet --json
remx summary demo/lenet --shape 1,1,28,28
remx plot demo/lenet -o net.svg
remx convert demo/lenet net.npz
remx check program.py
remx run program.py
im2rec --help
""".split("\n")


def run(*command, **options):
    """Run a program; its output is shown if it fails."""
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build():
    """The two files, made anew; the wheel is built from the sdist."""
    for old in (ROOT / "dist").glob("remx-*"):
        old.unlink()
    environment = {**os.environ, "PIP_CONSTRAINT": ""}  # the backend is built with what it asks for
    run(sys.executable, "-m", "build", "--outdir", ROOT / "dist", ROOT, env=environment)
    (sdist,), (wheel,) = ((ROOT / "dist").glob(pattern) for pattern in ("remx-*.tar.gz", "remx-*.whl"))
    return sdist, wheel


def check_contents(sdist, wheel):
    """Both hold what they promise; the wheel has nothing beside the package."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in SDIST_HAS if name not in names]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    missing += [name for name in WHEEL_HAS if name not in names]
    beside = sorted(name for name in names if not re.match(r"mxnet/|remx\.py$|remx-[^/]+\.dist-info/", name))
    if missing or beside:
        sys.exit(f"missing: {missing}; not ours: {beside}")


def install(wheel, folder):
    """An environment with the wheel and its dependencies only; the folder of its programs."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    run(python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    run(python, "-m", "pip", "check")
    return programs


def try_out(programs, folder, version):
    """The README's program and commands, and a smoke test."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"PATH": f"{programs}{os.pathsep}{environment['PATH']}", "MXNET_HOME": str(folder / "home")}
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    (folder / "program.py").write_text("\n".join(blocks), encoding="utf-8")
    (folder / "smoke.py").write_text(SMOKE, encoding="utf-8")
    run(programs / "python", "smoke.py", cwd=folder, env=environment)
    print("smoke test: passed", flush=True)
    for command in filter(None, COMMANDS):
        out = run(*command.split(), cwd=folder, env=environment)
        if command == "remx --version" and version not in out:
            sys.exit(f"built {version}, but remx --version says {out}")
        print(f"{command}: {out.strip().splitlines()[-1][:100] if out.strip() else 'done'}", flush=True)
    missing = [name for name in DEMO_LEAVES if not (folder / "demo" / name).is_file()]
    if missing:
        sys.exit(f"the demo has left no {', '.join(missing)}")


def main():
    """All of it; the first thing that fails ends it."""
    sdist, wheel = build()
    check_contents(sdist, wheel)
    print(f"built {sdist.name} and {wheel.name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        programs = install(wheel, folder / "empty")
        print("installed the wheel into an empty environment", flush=True)
        try_out(programs, folder, wheel.name.split("-")[1])
    print("release-check: passed")


if __name__ == "__main__":
    main()
