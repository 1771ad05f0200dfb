import resource
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from kreinlearn import _memory
from kreinlearn.kernels import Similarities, gram, resolve_kernel
from kreinlearn.operators import Blocked, Dense

GIB = 2**30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Return what writes files of a system that does not exist, by path."""
    monkeypatch.setattr(_memory, "SYSTEM_ROOT", tmp_path)
    monkeypatch.setattr(_memory, "REFRESH_SECONDS", 1e-9)  # read each time
    infinity = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: (infinity, infinity))

    def write(files):
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    return write


def meminfo(gib):
    return {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable:   {gib * 2**20} kB\n"}


def group(folder, limit, used, cached=0, *, version=2):
    """Return the files of a control group; numbers are in GiB."""
    names = {
        2: ("memory.max", "memory.current", "inactive_file"),
        1: (
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    }
    most, use, stat = names[version]
    text = limit if isinstance(limit, str) else str(limit * GIB)
    return {
        f"{folder}/{most}": f"{text}\n",
        f"{folder}/{use}": f"{used * GIB}\n",
        f"{folder}/memory.stat": f"anon 5\n{stat} {cached * GIB}\n",
    }


def test_linux_reports_available_memory(system):
    system(meminfo(16))
    assert _memory.available_bytes() == 16 * GIB


def test_other_systems_ask_psutil(system, monkeypatch):
    memory = SimpleNamespace(available=3 * GIB)
    psutil = SimpleNamespace(virtual_memory=lambda: memory)
    monkeypatch.setitem(sys.modules, "psutil", psutil)
    assert _memory.available_bytes() == 3 * GIB


def test_systems_without_a_report(system, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)  # cannot be imported
    assert _memory.available_bytes() is None
    assert _memory.fits(10**9, 10**9, float)
    _memory.check_fits(10**9, 10**9, float, "K")


@pytest.mark.parametrize(
    ("groups", "gib"),
    [
        (group("app/job", 4, 1), 3),
        (group("app/job", 4, 3, 2), 3),  # cached files are given up on demand
        (group("app/job", "max", 1), 16),
        (group("app/job", 64, 1), 16),
        (group("app/job", 8, 1) | group("app", 6, 5), 1),  # that of a parent
        (group("", 4, 2), 2),  # the path is the host's, and only the top is there
        (group("app", 2, 3), 0),
        (group("other", 1, 1), 16),
    ],
)
def test_control_groups_version_2(system, groups, gib):
    system(meminfo(16) | {"proc/self/cgroup": "0::/app/job\n"})
    system({f"sys/fs/cgroup/{path}": text for path, text in groups.items()})
    assert _memory.available_bytes() == gib * GIB


@pytest.mark.parametrize(
    ("groups", "gib"),
    [
        (group("docker/7", 4, 1, version=1), 3),
        (group("docker/7", 4, 3, 1, version=1), 2),
        (group("docker/7", "9223372036854771712", 1, version=1), 16),
        (group("docker", 5, 1, version=1), 4),
    ],
)
def test_control_groups_version_1(system, groups, gib):
    lines = "5:cpu,cpuacct:/docker/7\n4:memory:/docker/7\n1:name=systemd:/\n0::/\n"
    system(meminfo(16) | {"proc/self/cgroup": lines})
    system({f"sys/fs/cgroup/memory/{path}": text for path, text in groups.items()})
    assert _memory.available_bytes() == gib * GIB


def test_the_limit_of_the_address_space(system, monkeypatch):
    limit = 5 * GIB
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    pages = GIB // resource.getpagesize()
    system(meminfo(16) | {"proc/self/statm": f"{pages} 10 10\n"})
    assert _memory.available_bytes() == 4 * GIB


@pytest.mark.slow  # in a process of its own; the quick tests read made-up limits
@pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux")
def test_the_limit_of_a_process_is_seen():
    code = (
        "import resource; from kreinlearn._memory import available_bytes as free;"
        "pages = int(open('/proc/self/statm').read().split()[0]);"
        "limit = pages * resource.getpagesize() + 2**27;"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit));"
        "assert 0 < free() <= 2**27, free()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_matrix_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)
    assert _memory.fits(10, 10, float) and not _memory.fits(10, 11, float)
    assert _memory.fits(10, 11, "float32")
    with pytest.raises(
        MemoryError, match=r"K of shape \(10, 11\) in float64 needs 880"
    ):
        _memory.check_fits(10, 11, float, "K")


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1000, 1000), ("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("7kb", 7000), (0, 0)],
)
def test_sizes_as_people_write_them(given, expected):
    assert _memory.parse_bytes("memory", given) == expected


@pytest.mark.parametrize("given", ["much", "2 bits", "-1GB", -1, True, None, "1.2.3GB"])
def test_what_is_no_size_is_one_sentence(given):
    with pytest.raises(
        ValueError, match=r"'memory' must be a number of bytes, or text"
    ):
        _memory.parse_bytes("memory", given)


@pytest.mark.parametrize("version", [1, 2, "RLIMIT_AS"])
def test_what_is_chosen_respects_every_limit(system, monkeypatch, rng, version):
    X = rng.random((300, 2))  # their matrix takes 720,000 bytes
    limit, root = 800_000, "sys/fs/cgroup"
    system(meminfo(16))
    chosen = partial(resolve_kernel("tl1").operator, Similarities(X), "auto")
    assert isinstance(chosen(), Dense)
    if version == 1:
        system({f"{root}/memory/memory.limit_in_bytes": f"{limit}"})
        system({f"{root}/memory/memory.usage_in_bytes": "0"})
        system({"proc/self/cgroup": "4:memory:/\n"})
    elif version == 2:
        system({f"{root}/memory.max": f"{limit}", f"{root}/memory.current": "0"})
        system({"proc/self/cgroup": "0::/\n"})
    else:
        monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    _memory._limited_groups.cache_clear()
    assert isinstance(chosen(), Blocked)
    with pytest.raises(MemoryError, match=r"only 800,000 bytes"):
        gram(X)


def test_limits_are_read_once_in_a_moment(system, monkeypatch):
    monkeypatch.setattr(_memory, "REFRESH_SECONDS", 1e9)
    system(meminfo(16))
    assert _memory.available_bytes() == 16 * GIB
    system(meminfo(8))
    assert _memory.available_bytes() == 16 * GIB
    monkeypatch.setattr(_memory, "REFRESH_SECONDS", 1e-9)
    assert _memory.available_bytes() == 8 * GIB
