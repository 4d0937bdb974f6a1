"""Time of `import rankwise` on top of scikit-learn, and total time of `rankwise --help`: best of several starts."""

from __future__ import annotations

import shutil
import subprocess
import sys

from common import arguments, best_seconds, save

SKLEARN = "import sklearn.model_selection"
PARTS = "import rankwise.data, rankwise.distances, rankwise.metrics, rankwise.datasets"


def main() -> None:
    options = arguments(__doc__)
    starts = {
        "scikit-learn": [sys.executable, "-c", SKLEARN],
        "import rankwise": [sys.executable, "-c", f"{SKLEARN}, rankwise"],
        "rankwise.data, distances, metrics and datasets": [sys.executable, "-c", f"{SKLEARN}; {PARTS}"],
        "numba": [sys.executable, "-c", f"{SKLEARN}, numba"],
        "rankwise --help": [shutil.which("rankwise") or "rankwise", "--help"],
    }
    seconds = best_seconds(
        {
            name: lambda c=command: subprocess.run(c, check=True, capture_output=True)
            for name, command in starts.items()
        },
        rounds=2 if options.quick else 8,
    )
    base = seconds.pop("scikit-learn")
    rows = []
    for name, total in seconds.items():
        alone = name == "rankwise --help"
        row = {"what": name if alone else f"{name}, over scikit-learn", "seconds": total if alone else total - base}
        rows.append(row)
        print(f"{row['seconds']:6.3f} s  {row['what']}")
    save("import_time", rows, options, ["scikit-learn"])


if __name__ == "__main__":
    main()
