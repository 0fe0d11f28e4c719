"""What runs where, how it stands, and what to type next, so that somebody who knows nothing can go on.

Open `page/facts.py` first: what a handbook tells, as values. `gather.py` brings them together from the patrol's memory
and from what the boxes' own records say, `page/recovery.py` chooses the next command, `page/render.py` writes the page.
`log/logbook.py` is the record that is only ever appended to. Imports `sentinels`, `patrol` and `onbox`.
"""
