"""Sphinx settings: ``sphinx-build -W docs docs/_build``."""

import importlib
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.logging import getLogger

import rankwise

project = "rankwise"
author = project_copyright = "The rankwise developers"
release = version = rankwise.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
html_theme = "furo"
html_title = "rankwise"
html_static_path = ["_static"]
html_css_files = ["rankwise.css"]
html_js_files = ["rankwise.js"]
html_show_sphinx = False
html_copy_source = False
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

default_role = "py:obj"
nitpicky = True  # a broken link is an error
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
}

MODULES = (
    "data",
    "distances",
    "metrics",
    "aggregation",
    "embeddings",
    "trees",
    "label_ranking",
    "kernels",
    "screening",
    "ltr",
    "model_selection",
    "analysis",
    "datasets",
    "plots",
    "persistence",
    "exceptions",
)


def public_names():
    """Every public name with the full name under which it is documented, in the first module that has it."""
    names = {}
    for module in MODULES:
        loaded = importlib.import_module(f"rankwise.{module}")
        for name in getattr(loaded, "__all__", ["RankwiseFormatError"]):
            names.setdefault(name, f"rankwise.{module}.{name}")
    return names


def check_api_page(app):
    """Warn if the API page lacks a public name."""
    page = (Path(app.srcdir) / "api.md").read_text("utf-8")
    lacking = [name for name in public_names() if f"`{name}`" not in page]
    if lacking:
        getLogger(__name__).warning("docs/api.md does not list %s", ", ".join(lacking))


def link_names(app, doctree):
    """Link `name` to its documentation, so that pages can be plain Markdown that is readable without a build."""
    names = public_names()
    for literal in list(doctree.findall(nodes.literal)):
        first, dot, rest = literal.astext().partition("(")[0].partition(".")
        if first not in names or is_linked(literal):
            continue
        target = names[first] + dot + rest
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refdoc=app.env.docname, refexplicit=True, refwarn=True
        )
        literal.replace_self(link)
        link += literal


def is_linked(node):
    """Whether the node is the text of a link, or part of it: links within links lose their text."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.reference | addnodes.pending_xref):
            return True
    return False


def qualify_links(app, doctree):
    """Link a name in a docstring, whatever its module; words in types, as in "(n, n_items)", are not names."""
    names = public_names()
    for link in list(doctree.findall(addnodes.pending_xref)):
        first, dot, rest = link["reftarget"].partition(".")
        if link.get("refdomain") == "py" and first in names:
            link["reftarget"] = names[first] + dot + rest
        elif link.get("refspecific"):
            link.replace_self(link.children)


def skip_foreign_members(app, what, name, obj, skip, options):
    """Skip members that classes inherit from scikit-learn, whose docstrings link to its own guide, or from Python."""
    foreign = str(getattr(obj, "__module__", "")).startswith(("sklearn.", "collections.", "_collections_abc"))
    return skip or foreign or getattr(obj, "__objclass__", None) in (tuple, dict) or None


def keep_underscores(app, what, name, obj, options, lines):
    """Escape the underscore of names such as `items_`: napoleon does not, and docutils takes it for a link."""
    lines[:] = [re.sub(r"^:(ivar|vartype) (\w+)_:", r":\1 \2\_:", line) for line in lines]


def setup(app):
    app.connect("builder-inited", check_api_page)
    app.connect("autodoc-process-docstring", keep_underscores, priority=600)  # after napoleon
    app.connect("autodoc-skip-member", skip_foreign_members)
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", qualify_links)
