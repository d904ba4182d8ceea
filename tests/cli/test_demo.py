"""The demonstration learns, says the same on every run, leaves its files, and answers drawings in a browser."""

import io
import json
import math
import re
import shutil
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager, redirect_stdout

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._kernels.runtime.first_run import FIRST_RUN
from mxnet.cli import main
from mxnet.tools import demo, demo_page, demo_pictures
from mxnet.tools.digits import digits

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The whole demonstration, as a newcomer runs it: (folder, output)."""
    folder, out = tmp_path_factory.mktemp("demo"), io.StringIO()
    with redirect_stdout(out):
        assert main(["demo", "--output", str(folder)]) == 0
    return folder, out.getvalue()


@pytest.fixture(scope="module")
def net(run):
    prefix = run[0] / "lenet"
    return mx.gluon.SymbolBlock.imports(f"{prefix}-symbol.json", ["data"], f"{prefix}-0016.params")


def test_it_reads_98_of_100_digits_it_has_not_seen(run):
    scores = [float(score) for score in re.findall(r"test accuracy (\d\.\d+)", run[1])]
    assert scores[-1] >= 0.98
    assert scores[0] < scores[4] < scores[-1]


def test_the_exported_network_has_that_score(run, net):
    _, _, images, truth = digits()
    score = (demo.predictions(net, demo.prepared(images)) == truth).mean()
    assert f"test accuracy {score:.4f}\n" in run[1]


def test_it_leaves_pictures(run):
    cv2 = pytest.importorskip("cv2")  # which every installation has; matplotlib is not needed
    for name in ("curve.png", "digits.png", "confusion.png"):
        image = cv2.imread(str(run[0] / name))
        assert min(image.shape[:2]) > 300 and image.std() > 10


def test_confusions_are_counted_by_digit_and_answer():
    counts = demo_pictures.confusion(np.array([3, 3, 7]), np.array([3, 8, 7]))
    assert counts[3, 3] == counts[3, 8] == counts[7, 7] == 1 and counts.sum() == 3


def test_a_curve_of_one_batch_can_be_drawn():
    pytest.importorskip("cv2")
    assert demo_pictures.curve([2.3], [0.1]).std() > 5


def test_axes_have_round_numbers():
    assert list(demo_pictures._round_numbers(63.0, 101.0, False)) == [70, 80, 90, 100]
    assert demo_pictures._round_numbers(-1.1, 0.1, True) == pytest.approx([0.1, 0.2, 0.5, 1])


def test_two_runs_write_the_same_numbers(tmp_path, capsys):
    outputs = []
    for name in ("a", "b"):
        mx.random.seed(1)  # what went before does not matter
        assert main(["demo", "--epochs", "1", "--examples", "640", "--output", str(tmp_path / name)]) == 0
        outputs.append(re.findall(r"test accuracy \S+", capsys.readouterr().out))
        assert not FIRST_RUN._waits_here()  # what this process trains next is as before
    assert outputs[0] == outputs[1]
    first, second = (nd.load(str(tmp_path / name / "lenet-0001.params")).values() for name in ("a", "b"))
    for one, other in zip(first, second, strict=True):  # only names, counted in a process, differ
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_a_training_that_diverges_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "RATE", 1e30)
    assert main(["demo", "--epochs", "2", "--examples", "640", "--output", str(tmp_path)]) == 1
    assert "the training diverged: the loss of batch" in capsys.readouterr().err


def test_drawings_become_digits_of_the_right_size():
    drawing = np.zeros((demo_page.SIDE, demo_page.SIDE), "uint8")
    drawing[100:140, 5:15] = 255  # in a corner
    image = demo_page.centred(drawing)
    rows, columns = np.nonzero(image)
    assert image.max() == 1 and np.ptp(rows) == 19 and np.ptp(columns) == 4
    assert abs(rows.mean() - 13.5) <= 0.5 and abs(columns.mean() - 14) <= 0.5


@contextmanager
def page(net):
    """The address of a page that is being served."""
    with demo_page.server(net) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


def stroke():
    drawing = np.zeros((demo_page.SIDE, demo_page.SIDE), "uint8")
    drawing[20:120, 65:76] = 255
    return drawing.tobytes()


def reply(address, body=None, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_the_page_answers_drawings_and_refuses_the_rest(net):
    with page(net) as address:
        status, text = reply(address)
        assert status == 200 and b"<canvas" in text and b"https://" not in text
        status, text = reply(address + "answer", stroke())
        result = json.loads(text)
        assert status == 200 and result["digit"] == 1 and math.isclose(sum(result["scores"]), 1, abs_tol=1e-4)
        assert reply(address + "answer", b"short")[0] == 400
        assert reply(address + "answer", bytes(demo_page.SIDE**2)) == (400, b'{"error": "the drawing is empty"}')
        assert reply(address + "other")[0] == 404
        assert reply(address, Host="elsewhere.example")[0] == 403


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")
def test_digits_drawn_in_a_browser_are_read(net):
    api = pytest.importorskip("playwright.sync_api")
    angles = np.linspace(0, 2 * np.pi, 40)
    drawn = {
        "1": [(140, 40), (140, 240)],
        "0": [(140 + 65 * np.sin(a), 140 - 95 * np.cos(a)) for a in angles],
        "7": [(80, 55), (200, 55), (125, 240)],
    }
    with page(net) as address, api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page()
        faults = []
        tab.on("pageerror", lambda error: faults.append(error))
        tab.goto(address)
        box = tab.locator("#paper").bounding_box()
        for digit, points in drawn.items():
            tab.click("#clear")
            tab.mouse.move(box["x"] + points[0][0], box["y"] + points[0][1])
            tab.mouse.down()
            for x, y in points[1:]:
                tab.mouse.move(box["x"] + x, box["y"] + y, steps=4)
            tab.mouse.up()
            tab.wait_for_function("document.getElementById('answer').textContent !== ''", timeout=30_000)
            assert tab.inner_text("#answer") == digit
            assert tab.locator("#scores tr").count() == 10
        browser.close()
    assert not faults


def test_moved_images_keep_their_ink():
    mx.random.seed(3)
    images = nd.zeros((4, 1, 28, 28))
    images[:, :, 10:18, 10:18] = 1
    ink = demo.moved(images).sum(axis=(1, 2, 3)).asnumpy()
    assert np.all(abs(ink / 64 - 1) < 0.35) and len(set(ink.tolist())) == 4
