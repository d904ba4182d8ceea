"""Archives: the right files come out, in their place, within bounds; everything else is refused and leaves nothing."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import tarfile
import zipfile

import pytest

from mxnet._formats import archives, pickle_damage
from mxnet.base import MXNetError
from mxnet.test_utils import get_bz2_data, get_zip_data


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def tarred(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return path


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


MEMBERS = {"deep/a.bin": b"aaa", "deep/er/b.bin": b"bb", "c.bin": b""}


@pytest.mark.parametrize("make", [zipped, tarred, lambda p, m: tarred(p, m, "w"), lambda p, m: tarred(p, m, "w:xz")])
def test_all_files_keep_their_folders(tmp_path, make):
    archive = make(tmp_path / "archive", MEMBERS)
    paths = archives.extract_all(archive, tmp_path / "out")
    assert below(tmp_path / "out") == sorted(MEMBERS)
    assert {os.path.relpath(p, tmp_path / "out"): open(p, "rb").read() for p in paths} == MEMBERS


def test_only_what_is_wanted(tmp_path):
    archive = tarred(tmp_path / "a.tgz", MEMBERS)
    archives.extract(archive, {"a.bin": hashlib.sha1(b"aaa").hexdigest()}, tmp_path / "out_", archives.sha1_of(archive))
    assert below(tmp_path / "out_") == ["a.bin"]


def test_the_hash_comes_before_everything(tmp_path):
    archive = tmp_path / "a.zip"
    archive.write_bytes(b"this is no archive at all")
    for call in (lambda: archives.extract(archive, {"a": None}, tmp_path, "0" * 40),
                 lambda: archives.extract_all(archive, tmp_path, "0" * 40)):  # fmt: skip
        with pytest.raises(MXNetError, match=f"its SHA-1 is {archives.sha1_of(archive)}, expected 0000"):
            call()


ESCAPES = ["../x", "a/../../x", "/etc/x", "a//x", "..\\x", "C:/x", "C:\\x", "."]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("make", [zipped, tarred])
def test_names_that_lead_out(tmp_path, make, name):
    archive = make(tmp_path / "archive", {name: b"x"})
    (tmp_path / "out").mkdir()
    with pytest.raises(MXNetError, match="leads out of the folder"):
        archives.extract_all(archive, tmp_path / "out")
    assert below(tmp_path) == ["archive"]


def test_a_link_that_is_there_already_leads_nowhere(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MXNetError, match="leads out"):
        archives.extract_all(zipped(tmp_path / "a.zip", {"deep/x": b"x"}), tmp_path / "out")
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices(tmp_path, kind):
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        info = tarfile.TarInfo("x")
        info.type, info.linkname = kind, "/etc/passwd"
        file.addfile(info)
    with pytest.raises(MXNetError, match="link or a device"):
        archives.extract_all(tmp_path / "a.tar", tmp_path / "out")
    assert below(tmp_path) == ["a.tar"]


@pytest.mark.parametrize("make", [zipped, tarred])
def test_bombs_of_one_or_of_many_files(tmp_path, make):
    for members in ({"x": b"\0" * (20 << 20)}, {f"x{i}": b"\0" * (4 << 20) for i in range(6)}):
        with pytest.raises(MXNetError, match="bomb|claims"):
            archives.extract_all(make(tmp_path / "archive", members), tmp_path / "out")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files(tmp_path, pack):
    packed, target = tmp_path / "packed", tmp_path / "target"
    packed.write_bytes(pack(b"hello"))
    assert archives.unpack(packed, target) == str(target) and target.read_bytes() == b"hello"
    assert archives.unpacked(packed) == b"hello" and archives.unpacked(target) == b"hello"
    packed.write_bytes(pack(b"\0" * (20 << 20)))
    for call in (lambda: archives.unpack(packed, tmp_path / "other"), lambda: archives.unpacked(packed)):
        with pytest.raises(MXNetError, match="decompression bomb"):
            call()
    packed.write_bytes(pack(b"hello" * 100)[:-5])
    with pytest.raises(MXNetError, match="damaged"):
        archives.unpack(packed, tmp_path / "other")
    assert below(tmp_path) == ["packed", "target"]


def test_the_test_utilities_unpack_the_same_way(tmp_path, monkeypatch):
    from mxnet._formats import fetch

    def serve(url, fname, *rest):
        source = zipped if url.endswith("zip") else lambda path, _: open(path, "wb").write(bz2.compress(b"data"))
        source(fname, {"../out" if "evil" in url else "cifar/train.rec": b"x"})

    monkeypatch.setattr(fetch, "_fetch", serve)
    get_zip_data(str(tmp_path / "good"), "https://host/a.zip", "a.zip")
    assert below(tmp_path / "good") == ["a.zip", "cifar/train.rec"]
    with pytest.raises(MXNetError, match="leads out"):
        get_zip_data(str(tmp_path / "bad"), "https://host/evil.zip", "a.zip")
    get_bz2_data(str(tmp_path / "text"), "words", "https://host/words.bz2", "words.bz2")
    assert below(tmp_path / "text") == ["words"] and below(tmp_path / "bad") == ["a.zip"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_cannot_be_bounded_are_refused(tmp_path, method):
    """zipfile decompresses all that it has read of these in one call: 2 KB of bzip2 became 3 GB."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as file:
        file.writestr("a", bytes(1 << 20))
    for call in (lambda: archives.extract(tmp_path / "a.zip", {"a": None}, tmp_path / "out"),
                 lambda: archives.extract_all(tmp_path / "a.zip", tmp_path / "out")):  # fmt: skip
        with pytest.raises(MXNetError, match=f"its member a is compressed by method {method}"):
            call()
    assert below(tmp_path / "out") == []


@pytest.mark.parametrize("make", [zipped, tarred])
@pytest.mark.parametrize("names, words", [
    (("a", "a/b"), "the archive is damaged"), (("a/b", "a"), "the archive is damaged"),
    (("n" * 300,), "name is too long: .*nnn"),
])  # fmt: skip
def test_names_that_no_folder_can_hold(tmp_path, make, names, words):
    archive = make(tmp_path / "archive", dict.fromkeys(names, b"x"))
    with pytest.raises(MXNetError, match=words):
        archives.extract_all(archive, tmp_path / "out")


def test_a_zip_member_without_a_name(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        info = zipfile.ZipInfo("x")
        info.filename = ""
        file.writestr(info, b"x")
    with pytest.raises(MXNetError):
        archives.extract_all(tmp_path / "a.zip", tmp_path / "out")


def test_a_folder_that_cannot_be_made_is_no_damage(tmp_path):
    archive = zipped(tmp_path / "a.zip", {"a": b"x"})
    (tmp_path / "out").write_bytes(b"a file")
    with pytest.raises(FileExistsError):
        archives.extract_all(archive, tmp_path / "out")


def test_a_member_before_the_beginning_of_the_file(tmp_path):
    """The directory says that it begins later than it does."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.pkl", b"content")
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06") + 16
    data[at : at + 4] = (int.from_bytes(data[at : at + 4], "little") + 20).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(MXNetError, match="a.zip: the archive is damaged"):
        archives.extract(str(path), {"a.pkl": None}, str(tmp_path / "out"))
    assert "damaged" in pickle_damage.torch_damage(path)
