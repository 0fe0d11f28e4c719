"""The MCP server: what a coding agent asks about runs, answered by our own programs in bounded children.

Open `tools.py` first: one function per tool. `answers.py` says what every answer holds, `shapes.py` takes it from a
program's JSON, `children.py` runs a program, `log_tail.py` reads a log's end, `server.py` is the only file that knows
the SDK.
"""
