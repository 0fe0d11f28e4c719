"""Telling people: notices are put into a durable outbox by the runner and delivered by a process of their own.

Open `queue/enqueue.py` first (the runner's part), then `queue/outbox.py` (the files), then `send/deliver.py`. Imports
contract, system and redact; `requests` and `apprise` only inside the deliverer, where a message is about to be sent.
"""
