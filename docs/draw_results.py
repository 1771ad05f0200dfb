"""Draw the results of the paper from their records: ``python docs/draw_results.py``.

Updates the committed files in ``docs/results`` and writes a page per experiment. The
build of the documentation writes only the pages.
"""

import gzip
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from reproduction.page import write

RESULTS = Path(__file__).parent / "results"


def draw(folder: Path, *, only_pages: bool = False) -> None:
    """Write pages, and update existing files, from the records in a folder."""
    for records in sorted(folder.glob("*.jsonl.gz")):
        name = records.name.removesuffix(".jsonl.gz")
        with tempfile.TemporaryDirectory() as scratch:
            unpacked = Path(scratch, f"{name}.jsonl")
            unpacked.write_bytes(gzip.decompress(records.read_bytes()))
            for file in write(name, unpacked, scratch):
                target = folder / file.name
                is_page = file.suffix == ".html"
                if is_page or (target.exists() and not only_pages):
                    target.write_bytes(file.read_bytes())


if __name__ == "__main__":
    draw(RESULTS)
