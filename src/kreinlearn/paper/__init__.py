"""The reproduction of one paper: its tables and figures next to the published numbers.

Nothing else of the package needs this folder.
"""

from kreinlearn.paper.catalog import EXPERIMENTS
from kreinlearn.paper.page import write
from kreinlearn.paper.run import announcement, run_experiment

__all__ = ["EXPERIMENTS", "announcement", "run_experiment", "write"]
