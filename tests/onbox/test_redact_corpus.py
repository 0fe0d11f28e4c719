"""A corpus of made-up secrets in eight carriers, none of which may get through; and harmless ids, which must.

Nothing here was ever a secret: every string is drawn from a seeded generator.
"""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
from typing import TYPE_CHECKING, NamedTuple

import pytest

from onbox.redact import ROWS, SecretForm, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LETTERS = string.ascii_letters + string.digits
DRAW = random.Random(20261121)


def some(alphabet: str, length: int) -> str:
    """A string that holds a digit and a letter, as a drawn secret practically always does."""
    return "a1" + "".join(DRAW.choice(alphabet) for _ in range(length - 2))


def hexa(length: int) -> str:
    return some("0123456789abcdef", length)


class Case(NamedTuple):
    carrier: str
    secret: str
    text: str


# Tokens that are known by their own form.
FORMS: tuple[Callable[[], str], ...] = (
    lambda: "hf_" + some(LETTERS, 34),
    lambda: "ghp_" + some(LETTERS, 36),
    lambda: "gho_" + some(LETTERS, 36),
    lambda: "github_pat_" + some(LETTERS, 22) + "_" + some(LETTERS, 59),
    lambda: "glpat-" + some(LETTERS, 20),
    lambda: "sk-ant-api03-" + some(LETTERS + "-_", 80),
    lambda: "sk-proj-" + some(LETTERS, 48),
    lambda: "sk_live_" + some(LETTERS, 24),
    lambda: "whsec_" + some(LETTERS, 32),
    lambda: "xoxb-" + some(string.digits, 12) + "-" + some(LETTERS, 24),
    lambda: "xapp-1-" + some(LETTERS, 40),
    lambda: "AKIA" + "".join(DRAW.choice(string.ascii_uppercase + "234567") for _ in range(16)),
    lambda: "ASIA" + "".join(DRAW.choice(string.ascii_uppercase + "234567") for _ in range(16)),
    lambda: "AIza" + some(LETTERS, 35),
    lambda: "ya29." + some(LETTERS, 60),
    lambda: "GOCSPX-" + some(LETTERS, 28),
    lambda: "npm_" + some(LETTERS, 36),
    lambda: "pypi-AgEIcHlwaS5vcmc" + some(LETTERS, 80),
    lambda: "dop_v1_" + hexa(64),
    lambda: "SG." + some(LETTERS, 22) + "." + some(LETTERS, 43),
    lambda: "r8_" + some(LETTERS, 37),
    lambda: "gsk_" + some(LETTERS, 52),
    lambda: "nvapi-" + some(LETTERS, 64),
    lambda: "dckr_pat_" + some(LETTERS, 27),
    lambda: "shpat_" + hexa(32),
    lambda: "hvs." + some(LETTERS, 90),
    lambda: "tskey-auth-" + some(LETTERS, 30),
    lambda: "dapi" + hexa(32),
    lambda: "eyJ" + some(LETTERS, 33) + ".eyJ" + some(LETTERS, 60) + "." + some(LETTERS, 43),
    lambda: str(DRAW.randrange(10**9, 10**10)) + ":AA" + some(LETTERS, 33),
)
NAMES = (
    "WANDB_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MYSQL_PASSWORD", "DB_PASS", "PGPASSWORD", "REDIS_PASSWORD", "SECRET_KEY",
    "NEPTUNE_API_TOKEN", "COMET_API_KEY", "DD_API_KEY", "RUNPOD_API_KEY", "JUPYTER_TOKEN", "SMTP_PWD", "client_secret",
    "private_key", "signing_secret", "ENCRYPTION_KEY", "AZURE_STORAGE_KEY", "SSH_PASSPHRASE",
)  # fmt: skip
FLAGS = (
    "--wandb-key", "--api-key", "--password", "--token", "--hf-token", "--secret", "--access-key", "--auth-token",
    "--client-secret", "--db-password", "--passphrase", "--private-key", "--secret-key", "--registry-token", "--pass",
)  # fmt: skip


def argv() -> Iterator[Case]:
    for flag in FLAGS:
        for shape in ("python train.py {} {} --epochs 3", "python train.py {}={} --epochs 3"):
            secret = hexa(40)
            yield Case("argv", secret, shape.format(flag, secret))
    for shape in (
        "curl -u bot:{} https://host/x", "docker run -e WANDB_API_KEY={} img", "iris job run -e WANDB_API_KEY {} -- python t.py",
        "curl -su bot:{} https://host/x", "curl -fsSLu 'bot:{}' https://host/x", "curl -ubot:{} https://host/x", "curl -sS -ubot:{} https://host/x",
        "sshpass -p {} ssh box", "wandb login {}", "docker login -u me -p {} ghcr.io", "python t.py --token '{}'",
    ):  # fmt: skip
        secret = hexa(40)
        yield Case("argv", secret, shape.format(secret))


def env() -> Iterator[Case]:
    for name in NAMES:
        for shape in ("{}={}", "export {}='{}'", '"{}": "{}"'):
            secret = some(LETTERS + "+/", 40)
            yield Case("env", secret, shape.format(name, secret))


def url() -> Iterator[Case]:
    shapes = (
        "https://user:{}@host/x", "postgres://me:{}@db:5432/x", "redis://:{}@cache/0", "https://x/?token={}&a=1",
        "https://x/dl?sig={}&se=2026", "https://s3/b?X-Amz-Signature={}&x=1", "https://x/?api_key={}", "https://x/a?key={}",
        "https://iris/dash?session_token={}", "https://x/?access_token={}", "git clone https://{}@github.com/a/b",
        "https://storage/x?X-Goog-Signature={}", "amqp://svc:{}@mq/", "https://x/cb?code={}&state=1",
    )  # fmt: skip
    for shape in shapes:
        for _ in range(2):
            secret = some(LETTERS, 32)
            yield Case("url", secret, "GET " + shape.format(secret) + " 200")


def header() -> Iterator[Case]:
    shapes = (
        "Authorization: Bearer {}", "authorization: Basic {}", "-H 'Authorization: token {}'", "X-Api-Key: {}",
        "X-Auth-Token: {}", "PRIVATE-TOKEN: {}", "Cookie: session={}; a=1", "Set-Cookie: sid={}; HttpOnly", "X-Vault-Token: {}",
        '{{"Authorization": "Bearer {}"}}', "Proxy-Authorization: Basic {}", "X-Amz-Security-Token: {}",
        "Authorization: AWS4-HMAC-SHA256 Credential=A/b, SignedHeaders=host, Signature={}", "x-goog-api-key: {}",
        "Authorization: Digest username=\"a\", response={}",
    )  # fmt: skip
    for shape in shapes:
        for _ in range(2):
            secret = some(LETTERS, 40)
            yield Case("header", secret, shape.format(secret))


def pem() -> Iterator[Case]:
    for kind in ("OPENSSH PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
        line = base64.b64encode(bytes(DRAW.randrange(256) for _ in range(48))).decode()
        block = f"-----BEGIN {kind}-----\n{line}\n{line[::-1]}\n-----END {kind}-----"
        yield Case("pem", line, f"key:\n{block}\nafter")
        yield Case("pem", line, block.replace("\n", "\\n"))
        yield Case("pem", line, block.partition("-----END")[0])
        yield Case("pem", line, line)


def netrc() -> Iterator[Case]:
    for shape in (
        "machine api.wandb.ai login user password {}", "machine github.com\n  login me\n  password {}\n",
        "default login anonymous password {}", "machine h login u account a password {}", "  password {}",
    ):  # fmt: skip
        for _ in range(3):
            secret = hexa(40)
            yield Case("netrc", secret, shape.format(secret))


def log_line() -> Iterator[Case]:
    for form in FORMS:
        secret = form()
        yield Case("log line", secret, f"2026-11-21 05:00:01 INFO using {secret} for the upload")
    for shape in ("the api key is {}", "password is {}", "using token: {}", "wandb.login(key='{}')"):
        secret = hexa(40)
        yield Case("log line", secret, shape.format(secret))


def webhook() -> Iterator[Case]:
    for shape in (
        "https://hooks.slack.com/services/T01/B02/{}", "https://discord.com/api/webhooks/123456/{}",
        "https://open.feishu.cn/open-apis/bot/v2/hook/{}", "https://oapi.dingtalk.com/robot/send?access_token={}",
        "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}", "https://api.telegram.org/bot{}/sendMessage",
        "https://acme.webhook.office.com/webhookb2/{}", "https://hc-ping.com/{}", "https://ntfy.sh/{}",
        "https://hooks.zapier.com/hooks/catch/1/{}", "https://maker.ifttt.com/trigger/x/with/key/{}",
        "https://chat.example.com/hooks/{}", "https://prod-1.logic.azure.com/workflows/1?sv=1&sig={}",
        "https://sctapi.ftqq.com/{}.send", "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token={}",
    ):  # fmt: skip
        for _ in range(2):
            secret = some(LETTERS, 36)
            yield Case("webhook", secret, f"posting to {shape.format(secret)} failed: 500")


CASES = [case for carrier in (argv, env, url, header, pem, netrc, log_line, webhook) for case in carrier()]


def test_the_corpus_is_large_enough() -> None:
    assert len({case.secret for case in CASES}) >= 200
    assert len({case.carrier for case in CASES}) == 8


@pytest.mark.parametrize("carrier", sorted({case.carrier for case in CASES}))
def test_no_secret_gets_through(carrier: str) -> None:
    leaks = [case.text for case in CASES if case.carrier == carrier and case.secret in redact(case.text)]
    assert not leaks


def test_no_half_of_a_secret_gets_through() -> None:
    halves = [case.text for case in CASES if case.secret[len(case.secret) // 2 :] in redact(case.text)]
    assert not halves


def harmless() -> Iterator[str]:
    """Hashes, ids and SHAs as they stand in logs and records."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: f"commit {hexa(40)}",
        lambda: hexa(40),
        lambda: hexa(64),
        lambda: f"sha256:{hexa(64)}",
        lambda: f"run id 20261121-{hexa(8)}",
        lambda: f"run_id={hexa(8)}",
        lambda: str(uuid.UUID(int=DRAW.getrandbits(128))),
        lambda: f"GPU-{uuid.UUID(int=DRAW.getrandbits(128))}",
        lambda: f"ckpt/step-{DRAW.randrange(10**6)}.safetensors md5 {hexa(32)}",
        lambda: f"wandb: View run at https://wandb.ai/team/proj/runs/{hexa(8)}",
        lambda: f"image python@sha256:{hexa(64)}",
        lambda: f'"fingerprint":"{hexa(16)}"',
        lambda: f"boot_id {uuid.UUID(int=DRAW.getrandbits(128))}",
        lambda: f"trace_id={hexa(32)} span_id={hexa(16)}",
        lambda: f'etag: "{hexa(32)}"',
        lambda: f"patch_sha256={hexa(64)}",
        lambda: f"tokenizer_hash={hexa(40)} tokens=4096 max_tokens={DRAW.randrange(9999)}",
        lambda: f"cache_key={hexa(40)}",
        lambda: f"sort_key: {hexa(12)} primary_key={DRAW.randrange(10**6)}",
        lambda: f"integrity sha512-{base64.b64encode(DRAW.randbytes(64)).decode()}",
        lambda: f"job-{some(LETTERS, 12)} submitted as raysubmit_{some(LETTERS, 16)}",
        lambda: f"git checkout {hexa(12)} && python train.py --seed {DRAW.randrange(99)}",
        lambda: f"https://huggingface.co/org/model/resolve/{hexa(40)}/model.safetensors",
        lambda: f"signature {hexa(16)} of the failure",
        lambda: f"https://github.com/org/repo/commit/{hexa(40)}",
    )
    for number in range(1000):
        yield makers[number % len(makers)]()


def test_harmless_hashes_and_ids_stay() -> None:
    masked = [text for text in harmless() if redact(text) != text]
    assert len(masked) <= 10, masked[:20]


@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case.carrier)
def test_what_was_masked_once_stays_as_it_is(case: Case) -> None:
    once = redact(case.text)
    assert once == redact(once)


def test_no_row_is_passed_over_for_a_text_in_which_it_finds_something() -> None:
    """What is asked of a text before a pattern is tried must let through whatever the pattern would find."""
    texts = [(case.text, case.text.lower()) for case in CASES]
    missed = [
        (row.pattern, text)
        for row in ROWS
        for text, lower in texts
        if row.traces and re.search(row.pattern, text) and not _is_tried(row, lower)
    ]
    assert not missed


def _is_tried(row: SecretForm, lower: str) -> bool:
    asked = [any(piece in lower for piece in pieces) for pieces in (row.traces, row.also) if pieces]
    return all(asked) and (not row.hint or re.search(row.hint, lower) is not None)
