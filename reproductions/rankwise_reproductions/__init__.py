"""The experiments of the papers behind rankwise: what each paper reports next to what we find.

This distribution adds the command ``rankwise reproduce``: ``rankwise reproduce list`` names the experiments, and
``rankwise reproduce <paper or experiment>`` runs them. Each paper has a folder with one module per table, figure or
theorem, and the results of that module in files of the same name. `experiment` says what an experiment is, `catalog`
finds them, `runner` computes, `outcome` judges, `outputs` and `page` write files, `cli` is the command.

Nothing is imported here, so that ``rankwise --help`` can show the command without loading NumPy.
"""

__version__ = "0.1.0"
