"""Attacks on rankwise from outside, seeded; a few seconds of each are tests, and longer runs are started by hand.

``python -m tests.attack --minutes 10`` does all of them; each is a module, and `children` runs it.
"""

#: module -> what is attacked, and how
ATTACKS = {
    "forging": "saved models of every class: parts changed under right checksums, or bytes",
    "files": "every reader: damaged files of all formats",
    "arguments": "every public callable and estimator: bad arguments",
    "writers": "every writer: killed, interrupted, or on a full disk",
    "processes": "every estimator: jobs, threads, forks, new processes, Ctrl-C",
    "names": "terminal, JSON, report, tables, workbooks, pictures, studio: hostile names",
}
