"""Atomic files: the old content or the new, never a part, and no litter."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from mxnet._formats.atomic import atomic_write, write_file


def test_new_content_replaces_the_old(tmp_path):
    path = tmp_path / "a"
    write_file(path, b"old")
    write_file(path, "new ü")
    assert path.read_bytes() == "new ü".encode()
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_content_and_no_litter(tmp_path):
    path = tmp_path / "a"
    write_file(path, b"old")
    with pytest.raises(RuntimeError), atomic_write(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]


def test_permissions_and_links_are_kept(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    write_file(path, b"old")
    os.chmod(path, 0o640)
    link.symlink_to(path)
    write_file(link, b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_the_umask_of_all_threads_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)
    write_file(tmp_path / "a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


@pytest.mark.skipif(os.name != "posix", reason="this system knows readers and writers only")
@pytest.mark.parametrize("mode", [0o666, 0o600, 0o444])
def test_permissions_that_the_umask_forbids_stay_and_others_see_no_more_meanwhile(tmp_path, mode):
    path = tmp_path / "a"
    write_file(path, b"old")
    os.chmod(path, mode)
    with atomic_write(path) as file:
        (other,) = (name for name in os.listdir(tmp_path) if name != "a")
        assert stat.S_IMODE((tmp_path / other).stat().st_mode) & ~mode == 0
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_bytes() == b"new"


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "none" / "a", b"x")


def test_devices_are_written_through():
    write_file("/dev/null", b"x")
    assert not os.path.isfile("/dev/null")


LOOP = """
import sys
from mxnet._formats.atomic import write_file
print("ready", flush=True)
while True:
    for byte in b"ab":
        write_file(sys.argv[1], bytes([byte]) * 300_000)
"""


def test_killed_at_any_moment_the_file_is_whole(tmp_path):
    path = tmp_path / "a"
    for wait in (0.0, 0.003, 0.007, 0.02):
        child = subprocess.Popen([sys.executable, "-c", LOOP, str(path)], stdout=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(0.05 + wait)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        data = path.read_bytes()
        assert len(data) == 300_000 and len(set(data)) == 1


def test_what_killed_processes_left_goes_with_the_next_write(tmp_path):
    left = tmp_path / ".a.abcd1234.tmp"
    others = [tmp_path / ".a.b.abcd1234.tmp", tmp_path / ".b.abcd1234.tmp"]
    for path in (left, *others):
        path.write_bytes(b"half")
    write_file(tmp_path / "a", b"new")
    assert not left.exists() and all(path.exists() for path in others)


def test_a_file_that_another_writer_is_at_stays(tmp_path):
    with atomic_write(tmp_path / "a") as slow:
        slow.write(b"slow")
        write_file(tmp_path / "a", b"quick")
        assert len(os.listdir(tmp_path)) == 2
    assert (tmp_path / "a").read_bytes() == b"slow" and os.listdir(tmp_path) == ["a"]
