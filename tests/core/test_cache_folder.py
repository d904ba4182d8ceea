"""Which folder compiled kernels are kept in: one that other users can neither write nor replace."""

import os
import stat

import pytest

from mxnet._core.machine import cache_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of files are those of POSIX")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """`MXNET_HOME`, with folders of their own for what comes after it."""
    cache_folder._first_usable.cache_clear()
    tmp_path.chmod(0o755)
    for variable, name in (("MXNET_HOME", "home"), ("XDG_CACHE_HOME", "cache"), ("HOME", "user")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr(cache_folder.sys, "platform", "linux")
    monkeypatch.setattr(cache_folder.tempfile, "gettempdir", lambda: str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    yield tmp_path / "home"
    cache_folder._first_usable.cache_clear()


def own(home):
    return str(home.parent / "cache" / "remx" / "kernels" / "v1")


def test_a_folder_of_this_user_is_used(home):
    assert cache_folder.kernel_folder("v1") == str(home / "kernels" / "v1")
    assert os.path.isdir(home / "kernels" / "v1")
    assert cache_folder.kernel_folder() == str(home / "kernels")


@pytest.mark.parametrize("writable", ["", "kernels", "kernels/v1"])
@pytest.mark.parametrize(("mode", "words"), [(0o777, "all users can write in"), (0o1777, "all users can write in")])
def test_a_folder_that_all_can_write_is_not_used(home, caplog, writable, mode, words):
    (home / "kernels" / "v1").mkdir(parents=True)
    (home / writable).chmod(mode)
    if mode & stat.S_ISVTX and writable != "kernels/v1":  # nobody can replace what is ours there
        assert cache_folder.kernel_folder("v1") == str(home / "kernels" / "v1")
        return
    assert cache_folder.kernel_folder("v1") == own(home)
    assert cache_folder.kernel_folder("v1") == own(home)
    (told,) = caplog.messages  # once
    assert words in told and str(home / writable) in told


def test_a_group_may_write_if_it_is_the_users_own(home, monkeypatch):
    import grp
    import pwd

    name = pwd.getpwuid(os.geteuid()).pw_name
    (home / "kernels").mkdir()
    (home / "kernels").chmod(0o775)
    monkeypatch.setattr(os, "lstat", lambda path, real=os.lstat: _with_group(real(path), 4711))
    for group, members, expected in (
        (name, [], True),
        (name, [name], True),
        (name, ["eve"], False),
        ("all", [], False),
    ):
        cache_folder._first_usable.cache_clear()
        monkeypatch.setattr(grp, "getgrgid", lambda _, g=group, m=members: grp.struct_group((g, "x", 4711, m)))
        assert (cache_folder.kernel_folder() == str(home / "kernels")) is expected

    def unknown(_):
        raise KeyError

    cache_folder._first_usable.cache_clear()
    monkeypatch.setattr(grp, "getgrgid", unknown)
    assert cache_folder.kernel_folder("v1") == own(home)


def _with_group(status, group):
    return os.stat_result([*status[:5], group, *status[6:10]])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("owned", ["", "kernels", "kernels/v1"])
def test_a_folder_of_another_user_is_not_used(home, caplog, owned):
    (home / "kernels" / "v1").mkdir(parents=True)
    os.chown(home / owned, 4711, 4711)
    assert cache_folder.kernel_folder("v1") == own(home)
    assert f"{home / owned} belongs to another user" in caplog.text.replace(f"{home}/ ", f"{home} ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_link_of_another_user_is_not_followed(home):
    (home.parent / "elsewhere").mkdir()
    os.symlink(home.parent / "elsewhere", home / "kernels")
    assert cache_folder.kernel_folder("v1") == str(home / "kernels" / "v1")
    os.lchown(home / "kernels", 4711, 4711)
    cache_folder._first_usable.cache_clear()
    assert cache_folder.kernel_folder("v1") == own(home)


def test_a_read_only_home_leads_to_temporary_files(home):
    for name in ("home", "cache"):
        (home.parent / name).rmdir()
        (home.parent / name).write_text("no folder can be made here")
    place = home.parent / "tmp" / f"remx-{os.geteuid()}"
    assert cache_folder.kernel_folder("v1") == str(place / "v1")
    place.chmod(0o777)
    cache_folder._first_usable.cache_clear()
    last = cache_folder.kernel_folder("v1")
    assert not last.startswith(str(place)) and stat.S_IMODE(os.stat(os.path.dirname(last)).st_mode) == 0o700


def test_folders_are_made_so_that_others_cannot_write_them(tmp_path):
    before = os.umask(0)
    try:
        cache_folder.make_folder(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / path).stat().st_mode) for path in ("a", "a/b")} == {0o755}
