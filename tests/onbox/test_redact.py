"""Secrets out of text, numbers left in."""

from __future__ import annotations

import pytest

from onbox.redact import redact

TOKEN = "a1B2" * 9


@pytest.mark.parametrize(
    ("masked", "text"),
    [
        ("HF_TOKEN=***", f"HF_TOKEN={TOKEN}"),
        ("export HF_TOKEN=***", "export HF_TOKEN='two words'"),
        ("export HF_TOKEN=*** --x", 'export HF_TOKEN="two words" --x'),
        ("WANDB_API_KEY=***", "WANDB_API_KEY=abcd"),
        ("api-key: ***", "api-key: abcd"),
        ("apikey = ***", "apikey = abcd"),
        ("PASSWORD=***", "PASSWORD=hunter2"),
        ("db_passwd=***,host=x", "db_passwd=hunter2,host=x"),
        ("password: ***; user", "password: hunter2; user"),
        ("https://x/?token=***&y=1", "https://x/?token=abcd&y=1"),
        ("client_secret=***", "client_secret=abcd"),
        ("AWS_SECRET=*** B=2", "AWS_SECRET=abcd B=2"),
        ("credentials=***", "credentials=/tmp/abcd"),
        ("--api-key ***", "--api-key abcd"),
        ("--api-key=***", "--api-key=abcd"),
        ("--hf-token ***", "--hf-token 123abc"),
        ("--hf-token \\\n  *** --x", "--hf-token \\\n  123abc --x"),
        ("--auth bearer:***", "--auth bearer:Zq8vT2mK9pLx4Rw7"),
        ("--session-cookie=***", "--session-cookie=Zq8vT2mK9pLx4Rw7"),
        ("gh auth login --with-token <<< ***", "gh auth login --with-token <<< 'two words'"),
        ("redis-cli -h x -a *** ping", "redis-cli -h x -a abcd ping"),
        ("vault login ***", "vault login abcd1234"),
        ("aws configure set aws_secret_access_key ***", "aws configure set aws_secret_access_key abcd"),
        ("http -a user:*** https://x", "http -a user:abcd https://x"),
        ("Authorization: Bearer ***", f"Authorization: Bearer {TOKEN}"),
        ("authorization: Basic ***", "authorization: Basic dXNlcjpwdw=="),
        ("authorization: ***", "authorization: abcd"),
        ("https://***@host/x", "https://user:hunter2@host/x"),
        ("postgres://***@db:5432/x", "postgres://user:hunter2@db:5432/x"),
        ("login ***", f"login hf_{TOKEN}"),
        ("login ***", f"login ghp_{TOKEN}"),
        ("login ***", f"login github_pat_{TOKEN}"),
        ("login ***", f"login glpat-{TOKEN}"),
        ("login ***", f"login sk-proj-{TOKEN}"),
        ("login ***", "login xoxb-123456789012-abcdef"),
        ("login *** x", "login AKIAABCDEFGHIJKLMNOP x"),
        ("login ***", "login eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w"),
        ("https://hooks.slack.com/services/***", "https://hooks.slack.com/services/T0/B0/abcd"),
        ("https://discord.com/api/webhooks/***", "https://discord.com/api/webhooks/1/abcd"),
        ("A_TOKEN=*** B_TOKEN=***", "A_TOKEN=x1 B_TOKEN=y1"),
    ],
)
def test_a_secret_is_masked(masked: str, text: str) -> None:
    assert masked == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tokens=4096",
        "tokens: 4,096",
        "tokens=1.2M",
        "tokens: 3e9",
        "tokens: 12k/s",
        "--max-tokens 4096",
        "max_tokens=-1",
        "use_token=true",
        "token: None",
        "lr=0.1",
        "epoch 3/30 loss=0.123 acc=98.2% 56.2s",
        "tokens/s: 12000",
        "token_count=5",
        "tokenizer=gpt2",
        "HF_TOKEN=env:HF_TOKEN",
        "password=file:~/password",
        "https://host:8080/path",
        "https://user@host/x",
        "hf_short",
        "task-risk-based-evaluation",
        "ckpt/epoch_00012.npz",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "größe 模 — ✓",
        "http --auth basic https://x",
        "--auth kerberos --auth /etc/auth2022file.json --auth ~/auth1.json",
        "--cookie-file cookies_2024_01.txt",
        "--token \\\n  --next 3",
        "vault login -method=github",
        "aws configure set region us-east-1",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert text == redact(text)


@pytest.mark.parametrize("text", [f"HF_TOKEN={TOKEN}", "https://user:hunter2@host", f"login hf_{TOKEN}", "--token ab"])
def test_masking_twice_changes_nothing(text: str) -> None:
    assert redact(text) == redact(redact(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"api_key": "hunter2"}',
        "{'password': 'hunter2'}",
        '{"Authorization": "Bearer hunter2"}',
        "aws_secret_access_key=hunter2",
        "AWS_SECRET_ACCESS_KEY: hunter2",
        "redis://:hunter2@host/0",
        "private_key=hunter2",
    ],
)
def test_a_secret_in_another_form_is_masked(text: str) -> None:
    assert "hunter2" not in redact(text)


@pytest.mark.parametrize("text", ["tokens=4096/8192", "tokens: 12%", "tokens: 1.2B/3B", "tokens='4096'"])
def test_a_count_of_tokens_stays(text: str) -> None:
    assert text == redact(text)
