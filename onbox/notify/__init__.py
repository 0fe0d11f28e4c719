"""Telling people: notices are put into a durable outbox by the runner and delivered by a process of their own.

Open `courier.py` first (the runner's part), then `outbox.py` (the files), then `deliver.py` (the deliverer). Imports
contract, system and redact; `requests` and `apprise` only inside the deliverer, where a message is about to be sent.
"""
