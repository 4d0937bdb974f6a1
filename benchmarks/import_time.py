"""How long `import rankwise` takes on top of scikit-learn, and `rankwise --help` in all: best of several starts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

from common import arguments, save


def seconds(command: list[str], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):  # the first start warms the disk cache
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def main() -> None:
    options = arguments(__doc__)
    repeats = 3 if options.quick else 10
    python = [sys.executable, "-c"]
    sklearn = seconds([*python, "import sklearn.model_selection"], repeats)
    everything = "import rankwise, rankwise.data, rankwise.distances, rankwise.metrics, rankwise.datasets"
    rows = [
        {"what": "import rankwise, over scikit-learn",
         "seconds": seconds([*python, "import sklearn.model_selection, rankwise"], repeats) - sklearn},
        {"what": "rankwise.data, distances, metrics and datasets, over scikit-learn",
         "seconds": seconds([*python, f"import sklearn.model_selection; {everything}"], repeats) - sklearn},
        {"what": "import numba, over scikit-learn",
         "seconds": seconds([*python, "import sklearn.model_selection, numba"], repeats) - sklearn},
        {"what": "rankwise --help", "seconds": seconds([shutil.which("rankwise") or "rankwise", "--help"], repeats)},
    ]  # fmt: skip
    for row in rows:
        print(f"{row['seconds']:6.3f} s  {row['what']}")
    save("import_time", rows, options, ["scikit-learn"])


if __name__ == "__main__":
    main()
