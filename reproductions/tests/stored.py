"""What is stored in the repository, and the data it was made from, for the tests of stored results."""

from __future__ import annotations

import os
from pathlib import Path

from rankwise_reproductions.catalog import experiments
from rankwise_reproductions.experiment import Inputs
from rankwise_reproductions.outputs import store_of

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "reproductions" / "rankwise_reproductions"
STORED = [one for one in experiments().values() if store_of(RESULTS, one).exists()]
DATA = os.environ.get("RANKWISE_DATA")
INPUTS = Inputs(data=Path(DATA) if DATA else None)
