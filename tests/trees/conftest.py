"""Tables that several modules test with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def small_table():
    table = pd.DataFrame(
        {
            "age": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, np.nan, np.nan],
            "town": ["Ulm", "Ulm", "Bonn", "Kiel", "Bonn", "Kiel", "Ulm", "Bonn"],
        }
    )
    return table, [0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 7.0, 7.5]
