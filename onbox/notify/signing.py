"""Signatures of messages. Pure.

Standard Webhooks 1.0 (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md): HMAC-SHA256 over
`id.timestamp.body`, base64, prefix `v1,`; the secret is `whsec_` and base64 of the key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from urllib.parse import quote_plus

PREFIX = "whsec_"


class BadSecret(ValueError):
    """A secret is not in the form that its signature wants. Says nothing of the secret itself."""


def _hmac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def webhook_headers(id_: str, timestamp_seconds: int, body: bytes, secret: str | None) -> dict[str, str]:
    """The headers of a webhook: always its id and time, and the signature if there is a secret. Raises BadSecret.

    Several secrets separated by blanks make several signatures (rotation of keys).
    """
    headers = {"webhook-id": id_, "webhook-timestamp": str(timestamp_seconds)}
    if secret is not None:
        signed = f"{id_}.{timestamp_seconds}.".encode() + body
        marks = [base64.b64encode(_hmac(webhook_key(one), signed)).decode() for one in secret.split()]
        headers["webhook-signature"] = " ".join(f"v1,{mark}" for mark in marks)
    return headers


def webhook_key(secret: str) -> bytes:
    """The key behind `whsec_<base64>`. Raises BadSecret."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadSecret(f'the secret is not "{PREFIX}" and base64') from error
    if not key:
        raise BadSecret("the secret is empty")
    return key


def feishu_sign(timestamp_seconds: int, secret: str) -> str:
    """Feishu and Lark, custom bot guide, "signature verification": the key is `timestamp\\nsecret`, the text empty."""
    return base64.b64encode(_hmac(f"{timestamp_seconds}\n{secret}".encode(), b"")).decode()


def dingtalk_sign(timestamp_milliseconds: int, secret: str) -> str:
    """DingTalk, custom robot security settings: HMAC over `timestamp\\nsecret`, base64, URL-encoded."""
    return quote_plus(base64.b64encode(_hmac(secret.encode(), f"{timestamp_milliseconds}\n{secret}".encode())))
