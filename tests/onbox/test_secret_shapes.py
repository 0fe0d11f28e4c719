"""Ways in which a secret stands in a command, an environment, a log, an address, a traceback, a file or an exception.

Nothing here was ever a secret. LONG has no form of its own: only what stands around it tells what it is.
"""

from __future__ import annotations

import pytest

from onbox.outside import safe_line, safe_text
from onbox.redact import redact

LONG = "Zq7Lx0v2Tt9Rw4yPe8K1mN"
HEX = "0123456789abcdef0123456789abcdef"
SHORT = "hunter2x"
SECRETS = (LONG, HEX, SHORT)

COMMANDS = (
    f"vastai set api-key {HEX}",
    f"huggingface-cli login --token {LONG}",
    f"wandb login {HEX}0123abcd",
    f"python train.py --wandb-api-key={LONG}",
    f"python train.py --hf_token {LONG} --epochs 3",
    f"docker run -e HF_TOKEN={LONG} image",
    f"docker login -u me -p {SHORT}",
    f"openssl enc -aes-256-cbc -k {SHORT} -in x",
    f"openssl rsa -passin pass:{SHORT} -in key.pem",
    f"7z a -p{SHORT} out.7z data",
    f"unzip -P {SHORT} data.zip",
    f"smbclient //host/share -U user%{SHORT}",
    f"ldapsearch -x -D cn=admin -w {SHORT}",
    f"sshpass -p {SHORT} ssh host",
    f"mysql -u root -p{SHORT}",
    f"curl -u user:{SHORT} https://host/x",
    f"curl -H 'Authorization: token {LONG}' https://api.host/x",
    f"PGPASSWORD={SHORT} psql -h host",
)
ENVIRONMENT = (
    f"KAGGLE_KEY={HEX}",
    f"export KAGGLE_KEY='{HEX}'",
    f"GH_PAT={LONG}",
    f"PASSWORD1={SHORT}",
    f"DB_PASSWORD_PROD={SHORT}",
    f"SECRET_KEY_BASE={LONG}",
    f"TOKEN_GITHUB={LONG}",
    f"API_KEY_OPENAI={LONG}",
    f"ROBOFLOW_KEY={LONG}",
    f"WANDB_API_KEY {LONG}",
    f"setenv HF_TOKEN {LONG}",
    f"set -gx HF_TOKEN {LONG}",
    f'$env:HF_TOKEN = "{LONG}"',
    f'{{"name": "HF_TOKEN", "value": "{SHORT}"}}',
    f"- name: DB_PASSWORD\n  value: {SHORT}",
)
LOGS = (
    f"pass: {SHORT}",
    f"user=me pass: {SHORT}",
    f"connecting as me with password '{SHORT}'",
    f"the token is {LONG}",
    f"the passcode is {LONG}",
    f"INFO api_key for host set to {LONG}",
    f'{{\\"token\\":\\"{LONG}\\"}}',
    f'{{"password": "{SHORT}"}}',
    f"{{'api-key': '{LONG}'}}",
    f"body=password%3D{SHORT}",
    f"Set-Cookie: session={LONG}",
    f"пароль: {SHORT}",
    f"contraseña={SHORT}",
    f"密码：{SHORT}",  # noqa: RUF001 - as it is typed
)
ADDRESSES = (
    f"https://events.pagerduty.com/integration/{HEX}/enqueue",
    f"https://abc.ngrok.io/hook/{LONG}",
    f"https://abc.ngrok.io/team/hook/{LONG}",
    f"http://localhost:8065/hooks/{LONG}",
    f"chat.example.com/hooks/{LONG}",
    f'10.0.0.7 - "POST /hooks/{LONG} HTTP/1.1" 200',
    f"https://host/api?token={LONG}&x=1",
    f"https://s3.host/b?AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Signature={LONG}",
    f"postgresql://me:{SHORT}@db:5432/x",
    f"mongodb+srv://me:{SHORT}@db.host/x",
    f"redis://:{SHORT}@host/0",
    f"jdbc:postgresql://db/x?user=me&password={SHORT}",
    f"origin https://x-access-token:{LONG}@github.com/a/b.git (fetch)",  # a git remote
    f"fatal: unable to access 'https://oauth2:{LONG}@gitlab.com/a/b.git/'",
    f"https_proxy=http://me:{SHORT}@proxy:3128",
    f"pip install --extra-index-url https://me:{SHORT}@pypi.host/simple x",
)
TRACEBACKS = (
    f'    client = Client(api_key="{LONG}")',
    f"    wandb.login(key='{HEX}01234567')",
    f"TypeError: connect() got password={SHORT!r}",
    f"requests.exceptions.HTTPError: 401 Client Error for url: https://host/x?api_key={LONG}",
    f"OperationalError: could not connect: host=db user=me password={SHORT} port=5432",
    f"urllib3.exceptions.ProxyError: ('Cannot connect to http://me:{SHORT}@proxy:3128',)",
    f"ValueError: headers {{'Authorization': 'Bearer {LONG}'}} refused",
    f"KeyError: {{'X-Api-Key': '{LONG}'}}",
    f"pydantic.ValidationError: client_secret\n  got client_secret='{LONG}'",
)
FILES = (
    f'token = "{LONG}"',
    f"api_key = '{LONG}'",
    f"[service]\npassword = '{SHORT}'",
    f"machine host login me password {SHORT}",
    f"aws_secret_access_key = {LONG}",
    f"client-secret: {LONG}",
)
SHAPES = (*COMMANDS, *ENVIRONMENT, *LOGS, *ADDRESSES, *TRACEBACKS, *FILES)

HARMLESS = (
    "/home/me/digits/.onbox/hook/markers/eval_DONE",
    ".onbox/hooks/logs/train_20260101_120000",
    "TOKEN_COUNT=4096",
    "KEY_PATH=/data/key",
    "TOKEN_FILE=/run/x",
    "PRIMARY_KEY=user_id",
    "CACHE_KEY=linux-py310-0123456789abcdef",
    "token_count=5 tokens/s=12000",
    "12 tests pass: 3 skipped",
    "running pass fusion",
    "bypass: 3",
    "ROBOFLOW_KEY unset",
    "keyboard = us",
    "path=/data/keys/epoch_3",
    "hf_transfer enabled",
    "invalid token '<' in line 3",
    "set token length 4096",
    "loss 12%, acc 98%3A ok",
    "key frames: 12, user 3%",
)


def test_there_are_many() -> None:
    assert len(set(SHAPES)) >= 60


@pytest.mark.parametrize("text", SHAPES)
def test_no_secret_gets_through(text: str) -> None:
    for safe in (redact(text), safe_line(text), safe_text(text)):
        assert "***" in safe
        assert not any(secret in safe for secret in SECRETS)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_token_that_a_terminal_broke_in_two_is_masked() -> None:
    assert redact("login hf_AbCdEfGh1jKl\nMnOpQrStUvWxYz012345\nnext") == "login ***\nnext"
