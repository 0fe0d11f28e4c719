"""One file per `onbox` command: read the arguments, call the chain, say the result. No logic of its own.

Each module declares its command with click (`../cli/command.py`); `../cli/app.py` has the table of them.
"""
