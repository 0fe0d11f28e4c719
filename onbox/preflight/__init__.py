"""What is looked at before money is spent: `onbox check`. One theme per file, all checks in `table.py`. Changes nothing
on the box. May import chain and collectors.
"""
