import errno
import os
import stat

import pytest

from kreinlearn._files import check_free, replace


def test_a_free_path_is_given_back(tmp_path):
    assert check_free(tmp_path / "new") == tmp_path / "new"
    assert check_free(str(tmp_path / "new")) == tmp_path / "new"


def test_an_existing_file_needs_force(tmp_path):
    (tmp_path / "old").write_text("kept")
    with pytest.raises(FileExistsError, match=r"old exists already.*overwrite=True"):
        check_free(tmp_path / "old")
    assert check_free(tmp_path / "old", force=True) == tmp_path / "old"
    assert (tmp_path / "old").read_text() == "kept"


@pytest.mark.parametrize("force", [False, True])
def test_places_that_cannot_be_written(tmp_path, force):
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError, match=rf"{tmp_path} is a folder"):
        check_free(tmp_path, force)
    with pytest.raises(FileNotFoundError, match=r"folder .*none does not exist"):
        check_free(tmp_path / "none" / "model", force)
    with pytest.raises(NotADirectoryError, match=r"file is not a folder"):
        check_free(tmp_path / "file" / "model", force)


def test_replace_writes_and_overwrites(tmp_path):
    path = tmp_path / "file"
    replace(path, b"one")
    replace(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["file"]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    assert str(check_free("/dev/null")) == "/dev/null"
    replace("/dev/null", b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        replace(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "file").st_mode) == mode


def test_permissions_of_a_replaced_file_are_kept(tmp_path):
    (tmp_path / "file").touch()
    os.chmod(tmp_path / "file", 0o640)
    replace(tmp_path / "file", b"new")
    assert stat.S_IMODE(os.stat(tmp_path / "file").st_mode) == 0o640


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, code, step):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError) as caught:
        replace(path, b"new")
    assert str(caught.value) == f"{path} could not be written: {os.strerror(code)}."
    assert isinstance(caught.value, PermissionError) == (code == errno.EACCES)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_missing_folder_is_one_sentence(tmp_path):
    path = tmp_path / "none" / "file"
    with pytest.raises(FileNotFoundError) as caught:
        replace(path, b"")
    assert str(caught.value) == f"{path} could not be written: {os.strerror(2)}."
