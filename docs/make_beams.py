"""Write the table of the screening examples: ``python docs/make_beams.py`` writes docs/beams.csv."""

from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
width, height, length = rng.uniform(4, 12, 60), rng.uniform(8, 24, 60), rng.uniform(1.5, 6, 60)
wood = rng.choice(["oak", "pine"], 60)
# The load of a beam increases with its width and the square of its height, and decreases with its length.
load = 0.9 * width * height**2 / length * rng.lognormal(0, 0.03, 60)

beams = zip(width, height, length, wood, load, strict=True)
rows = ["width,height,length,wood,load", *("{:.1f},{:.1f},{:.2f},{},{:.0f}".format(*beam) for beam in beams)]
(Path(__file__).parent / "beams.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
