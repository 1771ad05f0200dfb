"""Ctrl-C ends cleanly at any moment, also while modules are imported."""

import subprocess
import sys

SLOW = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
sys.argv = ["krein", "info"]
import kreinlearn.__main__
kreinlearn.__main__.start()
"""


def test_an_interrupt_during_imports_is_a_clean_exit():
    for name in ("kreinlearn.app.cli", "click", "kreinlearn.app.cli.info"):
        call = [sys.executable, "-c", SLOW.format(name=name)]
        ended = subprocess.run(call, capture_output=True, text=True)
        assert ended.returncode == 130
        assert ended.stderr.strip() == "krein: interrupted."
