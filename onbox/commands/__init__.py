"""One file per `onbox` command: read the arguments, call the chain, say the result. No logic of its own.

Each module has `add(subparsers)`, which declares the command, and the function that runs it and returns an exit code.
"""
