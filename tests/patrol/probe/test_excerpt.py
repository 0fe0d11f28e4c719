"""The traceback that a report shows: the last one, whole, bounded, without secrets."""

from __future__ import annotations

from patrol.probe.excerpt import LINES_LIMIT, last_traceback

TRACE = """Traceback (most recent call last):
  File "/root/digits/train.py", line 40, in <module>
    main()
  File "/root/digits/train.py", line 30, in main
    raise ValueError("bad")
ValueError: bad"""


def test_the_last_traceback_comes_whole_with_the_words_before_it() -> None:
    text = f"old\n{TRACE.replace('bad', 'earlier')}\nresumed\nstep 1\nstep 2\n{TRACE}\ncleaning up\n"
    assert last_traceback(text.encode()) == ("step 1", "step 2", *TRACE.split("\n"))


def test_a_chain_of_exceptions_is_one_traceback() -> None:
    chain = f"{TRACE}\n\nDuring handling of the above exception, another exception occurred:\n\n{TRACE}"
    assert last_traceback(f"a\nb\nc\n{chain}\n".encode()) == ("b", "c", *chain.split("\n"))


def test_it_is_bounded_cleaned_and_redacted() -> None:
    frames = "".join(f'  File "/a.py", line {at}, in f\n    \x1b[31mg(password=hunter2hunter2)\n' for at in range(90))
    found = last_traceback(f"Traceback (most recent call last):\n{frames}KeyError: 'x'\n".encode())
    assert len(found) == LINES_LIMIT
    assert found[-1] == "KeyError: 'x'"
    assert not any("\x1b" in line or "hunter2" in line for line in found)


def test_a_log_without_one_has_none() -> None:
    assert last_traceback(b"step 1\nKilled\n") == ()
    head = "Traceback (most recent call last):"
    assert last_traceback(b"\xff\x00" + head.encode()) == (f"\ufffd{head}",)
