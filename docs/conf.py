"""Configuration of the documentation site; `make docs` builds it into target/docs."""

import sys
from pathlib import Path

import umber.core as mx

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "umber"
author = "The umber developers"
copyright = "The umber developers"
version = release = mx.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "api_pages",
    "links",
    "pictures",
]
exclude_patterns = ["_ext", "decisions/README.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"

# Files of the site's own; nothing is loaded from the network.
html_theme = "furo"
html_title = f"umber {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["offline.js"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Anchors of headings as in the repository's own view of Markdown.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

autosummary_generate = False
autodoc_member_order = "alphabetical"
autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_google_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

# Names of parameters, such as `shape`, are names of several attributes, so they are no links.
# Sections of references may list sources that no sentence cites.
suppress_warnings = ["ref.python", "ref.footnote"]

linkcheck_timeout = 20
linkcheck_retries = 2
