"""Sphinx configuration of the docs site: MyST pages, WaveDrom drawn at build time, doctests."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinxcontrib.yowasp_wavedrom import WaveDromDirective

sys.path.insert(0, str(Path(__file__).parents[1]))  # doctests import models, rtl and synth

project = "netweave"
copyright = "the netweave authors"
version = release = "0.1.0"

extensions = ["myst_parser", "sphinx.ext.doctest", "sphinxcontrib.yowasp_wavedrom"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = False

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "netweave"


class WaveDrom(WaveDromDirective):
    """The extension's directive, taking its JSON5 from a MyST fence too.

    The original cuts the reStructuredText directive off the block's text, which a fence has not.
    """

    def run(self) -> list[nodes.Node]:
        """Return the diagram's node, or an error that names the page."""
        self.block_text = "\n".join(self.content)
        return super().run()


def setup(app: Sphinx) -> None:
    """Replace the extension's directive by the one above."""
    app.add_directive("wavedrom", WaveDrom, override=True)
