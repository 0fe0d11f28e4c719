"""The pages of docs/ that are rendered: one module per page. Not shipped; `scripts/gen_docs.py` writes them."""
