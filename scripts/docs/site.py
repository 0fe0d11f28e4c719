"""A hook of MkDocs (mkdocs.yml): links that leave docs/ for a file of the repository.

On a forge they work as they stand. On the site there is no such file, so the text stays, with the place behind it. One
that leads to nothing ends the build.
"""

from __future__ import annotations

import os
import re
from typing import Any

LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#\s]*)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Called by MkDocs for each page."""
    folder = os.path.dirname(page.file.abs_src_path)

    def instead(found: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join(folder, found[2]))
        if path.startswith(os.path.join(config.docs_dir, "")):
            return found[0]
        if not os.path.exists(path):
            raise ValueError(f"{page.file.src_path}: {found[2]} is not in the repository")
        return f"{found[1]} (`{os.path.relpath(path, os.path.dirname(config.docs_dir))}`)"

    return LINK.sub(instead, markdown)
