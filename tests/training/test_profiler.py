"""The profiler's tables and traces."""

import json
import os
import re
import subprocess
import sys

import pytest

import mxnet as mx
from mxnet import profiler


@pytest.fixture
def path(tmp_path):
    where = tmp_path / "trace.json"
    profiler.dumps(reset=True)
    profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(where))
    profiler.set_state("run")
    yield where
    profiler.set_state("stop")
    profiler.dumps(reset=True)


def work():
    array = mx.nd.ones((20, 20))
    for _ in range(3):
        mx.nd.dot(array, array).wait_to_read()
    domain = profiler.Domain("dom")
    with domain.new_task("tsk"):
        mx.nd.exp(array).wait_to_read()
    counter = domain.new_counter("cnt", 5)
    counter += 3
    counter -= 1
    counter.set_value(9)
    counter.increment(2)
    counter.decrement()
    domain.new_marker("mrk").mark("process")
    profiler.pause()
    mx.nd.log(array).wait_to_read()
    profiler.resume()


def table(text, category):
    """{name: cells} of one category's table."""
    part = re.search(rf"^{category}\n=+\n.*?\n\n", text + "\n", re.S | re.M).group()
    return {line.split()[0]: line.split()[1:] for line in part.splitlines()[4:] if line}


def test_tables_of_operators_tasks_and_counters(path):
    work()
    text = profiler.dumps()
    assert text.startswith("\nProfile Statistics:\n\tNote the difference in units for different entries.\n")
    operators = table(text, "operator")
    assert operators["dot"][0] == "3" and operators["exp"][0] == "1" and "log" not in operators
    rows = table(text, "dom")
    assert rows["tsk"][0] == "1"
    assert rows["cnt"] == ["6", "0.0100", "0.0050", "0.0110", "0.0030"]  # MXNet's line for the same calls
    assert table(text, "dom,instant_marker") == {}
    assert re.findall(r"^(.*)\n===", text, re.M) == ["Device Storage", "dom", "dom,instant_marker", "operator"]
    assert json.loads(profiler.dumps(format="json"))["Time"]["operator"]["dot"]["Count"] == 3
    ascending = list(table(profiler.dumps(sort_by="count", ascending=True), "operator"))
    assert ascending[-1] == "dot"
    profiler.dumps(reset=True)
    assert "dot" not in profiler.dumps()


def test_no_statistics_unless_they_were_asked_for(path):
    profiler.set_config(filename=str(path))
    work()
    assert profiler.dumps() == profiler.dumps(format="json") == ""
    profiler.set_config(filename=str(path), aggregate_stats=True)
    mx.nd.sqrt(mx.nd.ones(3)).wait_to_read()
    operators = table(profiler.dumps(), "operator")
    assert "sqrt" in operators and "dot" not in operators  # what was done before is not counted


def test_a_trace_that_chrome_opens(path):
    work()
    profiler.dump()
    events = json.loads(path.read_text())["traceEvents"]
    named = {(event.get("cat"), event["name"]) for event in events}
    assert {("operator", "dot"), ("dom", "tsk"), ("dom", "cnt"), ("dom,instant_marker", "mrk")} <= named
    assert all("ph" in event and "pid" in event for event in events)
    assert any(event["name"].startswith("aten::") for event in events)  # what torch did inside


def test_mistakes_are_those_of_mxnet():
    with pytest.raises(AssertionError, match="Invalid value provided for sort_by: size"):
        profiler.dumps(sort_by="size")
    with pytest.raises(AssertionError, match="Invalid value provided for format: xml"):
        profiler.dumps(format="xml")
    with pytest.raises(KeyError, match="'run' or 'stop'"):
        profiler.set_state("walk")
    with pytest.raises(mx.MXNetError, match="nosuch"):
        profiler.set_config(nosuch=1)


def test_a_program_that_fails_leaves_its_trace(tmp_path):
    code = (
        "import mxnet as mx; mx.profiler.set_config(profile_all=True, filename='trace.json');"
        "mx.profiler.set_state('run'); mx.nd.exp(mx.nd.ones((2,))); raise ValueError('no')"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1 and "ValueError: no" in ended.stderr
    assert "exp" in {event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}


def test_scopes_of_markers_are_known():
    with pytest.raises(mx.MXNetError, match="Invalid Input: 'proces', valid values are: {'global', 'marker'"):
        profiler.Domain("dom").new_marker("mrk").mark("proces")


def test_it_starts_by_itself_where_the_environment_says_so(tmp_path):
    code = "import mxnet as mx; (mx.nd.ones((3, 3)) + 1).asnumpy()"
    environment = {**os.environ, "MXNET_PROFILER_AUTOSTART": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = [event["name"] for event in json.loads((tmp_path / "profile.json").read_text())["traceEvents"]]
    assert "_plus_scalar" in names


def test_systems_that_do_not_tell_memory_and_have_another_encoding(tmp_path):
    """Whatever is opened is opened in bytes or in a given encoding."""
    code = (
        "import mxnet as mx; from mxnet._profiling import recorder; recorder._STATM = 'nothing';"
        "mx.profiler.set_config(profile_all=True);"
        "mx.profiler.set_state('run'); (mx.nd.ones((3, 3)) + 1).asnumpy(); mx.profiler.dump()"
    )
    options = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning:mxnet.profiler", "-W",
               "error::EncodingWarning:mxnet._profiling.recorder"]  # fmt: skip
    done = subprocess.run([sys.executable, *options, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "profile.json").is_file(), done.stderr


def test_starting_costs_next_to_nothing(tmp_path):
    """torch.profiler imports sympy, more than a second; only a new process shows it."""
    code = (
        "import time, sys, mxnet as mx; mx.nd.ones(1).asnumpy(); start = time.perf_counter();"
        "mx.profiler.set_config(profile_all=True, filename='trace.json'); mx.profiler.set_state('run');"
        "print(time.perf_counter() - start, 'sympy' in sys.modules); mx.profiler.set_state('stop')"
    )
    seconds, sympy = subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True).split()
    assert float(seconds) < 0.1 and sympy == "False"
