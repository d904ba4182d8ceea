"""Readers take hostile input: a clean result or MXNetError, within two seconds, in little memory."""

import os
import signal

import pytest

from . import attacks, fuzz, inputs

FINDINGS = sorted(path for path in (inputs.DATA / "findings").iterdir() if path.suffix != ".idx")


@pytest.fixture(scope="module", autouse=True)
def clock(tmp_path_factory):
    before = signal.signal(signal.SIGPROF, fuzz.alarm)
    for kind in fuzz.KINDS:
        fuzz.warm(kind, fuzz.reader(kind, tmp_path_factory.mktemp(kind)))
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_mutated_and_generated_inputs(kind):
    result = fuzz.in_process(kind, seed=1, count=400)
    assert not result.findings
    assert result.clean and result.refused and result.clean + result.refused == 400


NAMES = [f"{kind}: {name}" for kind, name, _ in attacks.ATTACKS]


@pytest.mark.parametrize("kind, data", [a[::2] for a in attacks.ATTACKS], ids=NAMES)
def test_attack_files_are_refused(kind, data, tmp_path):
    assert fuzz.attempt(attacks.reader(kind, str(tmp_path)), data)[0] == "refused"


def test_the_archive_that_is_expected(tmp_path):
    for data in (attacks.zipped("some/folder/a.params", b"abc"), attacks.tarred("x/a.params", b"abc"),
                 attacks.tarred("a.params", b"abc", mode="w:xz")):  # fmt: skip
        attacks.read_archive(data)


def test_truncated_files():
    count, wrong = attacks.truncations(most=8)
    assert count > 400 and not wrong


@pytest.mark.parametrize("path", FINDINGS, ids=[path.name for path in FINDINGS])
def test_earlier_findings(path, tmp_path):
    kind = "record" if path.suffix == ".rec" else path.suffix[1:]
    data = path.read_bytes()
    if kind == "record":
        data = (data, path.with_suffix(".idx").read_bytes())
    assert fuzz.attempt(fuzz.reader(kind, str(tmp_path)), data)[0] in ("clean", "refused")


def test_an_input_that_ends_the_process_is_known(monkeypatch):
    """It is the finding, and the inputs behind it are read all the same."""
    whole, made, _ = fuzz.more_readers.READERS["csv"]
    deadly = list(inputs.stream("csv", 1, 30))[11]

    def read(data, folder):
        if data == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(fuzz, "START", "fork")
    monkeypatch.setitem(fuzz.more_readers.READERS, "csv", (whole, made, read))
    result = fuzz.in_process("csv", seed=1, count=30)
    assert result.clean == 29
    assert [(kind, outcome, data) for kind, outcome, _, data in result.findings] == [("csv", "crash", deadly)]
