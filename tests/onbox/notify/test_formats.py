"""Each channel: what it is sent, what it may not be made to do, and when a message counts as delivered."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from standardwebhooks import Webhook

from onbox.contract.notify_targets import FORMATS as FORMAT_NAMES
from onbox.notify.message_text import lines, title
from onbox.notify.table import BY_NAME, FORMATS, format_of
from onbox.notify.types import HttpAnswer, Outgoing, TryOutcome, Unusable
from tests.onbox.notify.samples import DONE, EVIL, FAILED, HOSTILE, NOW, ask

URLS = {
    "email": "smtps://me:pw@mail.example/?from=box@example.com&to=a@example.com,b@example.com",
    "telegram": "https://api.telegram.org/bot1:TOKEN/sendMessage?chat_id=42",
    "ntfy": "https://ntfy.sh/topic",
    "apprise": "apprise+json://hook.example",
}
DELIVERED, LATER, NEVER, UNCLEAR = TryOutcome


def built(name: str, notice: Any = FAILED, secret: str | None = None) -> Outgoing:
    return BY_NAME[name].build(ask(notice, URLS.get(name, "https://hook.example/x/SECRETPATH"), secret))


def body_of(name: str, notice: Any = FAILED) -> Any:
    return json.loads(built(name, notice).body)


def test_the_table_and_the_configuration_know_the_same_formats() -> None:
    assert tuple(one.name for one in FORMATS) == FORMAT_NAMES


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://hooks.slack.com/services/T/B/x", "slack"),
        ("https://discord.com/api/webhooks/1/x", "discord"),
        ("https://prod-1.westeurope.logic.azure.com:443/workflows/x", "teams"),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/x", "feishu"),
        ("https://open.larksuite.com/open-apis/bot/v2/hook/x", "lark"),
        ("https://oapi.dingtalk.com/robot/send?access_token=x", "dingtalk"),
        ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x", "wecom"),
        ("https://api.telegram.org/bot1:x/sendMessage?chat_id=1", "telegram"),
        ("https://ntfy.sh/topic", "ntfy"),
        ("https://hc-ping.com/uuid", "healthchecks"),
        ("smtps://me:pw@mail.example/", "email"),
        ("apprise+matrixs://x", "apprise"),
        ("https://hooks.slack.com.evil.example/x", "generic"),
        ("https://example.com/discord.com", "generic"),
        ("https://[bad", "generic"),
    ],
)
def test_the_format_is_known_by_the_url(url: str, name: str) -> None:
    assert format_of(url, None).name == name
    assert format_of(url, "generic").name == "generic"


def test_a_generic_message_holds_everything() -> None:
    data = body_of("generic")
    assert data["type"] == "onbox.stage_failed"
    assert data["timestamp"] == FAILED.at
    for field, value in FAILED._asdict().items():
        assert data["data"].get(field) == value
    assert built("generic").headers["Idempotency-Key"] == FAILED.id


def test_a_chat_message_is_short_and_says_what_to_do() -> None:
    assert body_of("discord")["content"].split("\n") == [
        "✗ digits/train FAILED (host_oom) on gpu1",
        "why: «exit_code: 137 (SIGKILL), wanted 0»",
        "log: «Killed»",
        "do: Use less memory, then resume.",
        "attempt 2 · took 1h12m · peak memory 8.0 GB (whole group) · GPU 0 40.0 GB",
        "next: cd /root/digits && onbox logs train --run digits",
        "logs: /root/digits/.onbox/digits/logs/train.2.log",
        "2026-11-21T05:10:24.123Z · run 20261121-3aa1641a",
    ]


LIMITS = {
    "generic": 20_000,
    "slack": 35_000,
    "discord": 16_000,
    "teams": 28_000,
    "feishu": 20_000,
    "lark": 20_000,
    "dingtalk": 20_000,
    "wecom": 16_000,
    "telegram": 30_000,
    "ntfy": 30_000,
    "healthchecks": 10_000,
    "email": 150_000,
    "apprise": 30_000,
}


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_hostile_text_stays_text_and_within_the_limit(name: str) -> None:
    outgoing = built(name, HOSTILE)
    assert len(outgoing.body) <= LIMITS[name]
    assert all("\n" not in value and "\r" not in value for value in outgoing.headers.values())


def test_texts_keep_the_limits_of_their_channels() -> None:
    assert len(body_of("discord", HOSTILE)["content"]) <= 2000
    assert len(body_of("wecom", HOSTILE)["text"]["content"].encode()) <= 2048
    assert len(body_of("telegram", HOSTILE)["text"]) <= 4096
    assert len(body_of("ntfy", HOSTILE)["message"].encode()) <= 4096


def test_nobody_can_be_called_by_a_log_line() -> None:
    notice = FAILED._replace(proof=EVIL[:60])
    assert "<!channel>" not in body_of("slack", notice)["text"]
    assert body_of("discord", notice)["allowed_mentions"] == {"parse": []}
    assert "<at user_id" not in body_of("feishu", notice)["content"]["text"]
    assert body_of("dingtalk", notice)["at"] == {"isAtAll": False}
    assert "parse_mode" not in body_of("telegram", notice)
    card = body_of("teams", notice)["attachments"][0]["content"]["body"]
    assert "\\*\\*b" in json.dumps(card).replace("\\\\", "\\")


def test_a_mail_has_one_subject_and_a_stable_id() -> None:
    mail = message_from_bytes(built("email", HOSTILE).body)
    assert mail["X-Evil"] is None
    assert mail["Message-ID"] == f"<{FAILED.id}@onbox.invalid>"
    assert mail["To"] == "a@example.com, b@example.com"


@pytest.mark.parametrize(
    "query", ["", "?from=a@b.example", "?from=a@b.example&to=x%0d%0aBcc:%20y@z.example", "?to=a@b.c"]
)
def test_a_mail_url_without_good_addresses_is_refused(query: str) -> None:
    with pytest.raises(Unusable):
        BY_NAME["email"].build(ask(url=f"smtps://mail.example/{query}"))


def test_healthchecks_hears_success_failure_and_the_rest() -> None:
    ends = {
        "chain_done": "/uuid",
        "chain_failed": "/uuid/fail",
        "gate_refused": "/uuid/fail",
        "stage_failed": "/uuid/fail",
        "stage_done": "/uuid/log",
    }
    for event, path in ends.items():
        outgoing = BY_NAME["healthchecks"].build(ask(DONE._replace(event=event), "https://hc-ping.com/uuid"))
        assert urlsplit(outgoing.url).path == path


def test_ntfy_takes_the_topic_out_of_the_url_and_a_token() -> None:
    outgoing = built("ntfy", secret="tk_x")
    assert outgoing.url == "https://ntfy.sh/"
    assert json.loads(outgoing.body)["topic"] == "topic"
    assert outgoing.headers["Authorization"] == "Bearer tk_x"


# -- signatures


@pytest.mark.parametrize("notice", [FAILED, DONE, HOSTILE])
def test_an_independent_implementation_accepts_the_signature(notice: Any) -> None:
    secret = "whsec_" + base64.b64encode(b"k" * 24).decode()
    outgoing = BY_NAME["generic"].build(ask(notice, secret=secret)._replace(now=time.time()))
    data = Webhook(secret).verify(outgoing.body.decode(), outgoing.headers)
    assert data["data"]["id"] == notice.id
    assert outgoing.headers["webhook-id"] == notice.id
    assert "." not in notice.id


def test_feishu_is_signed_with_time_and_secret_as_the_key() -> None:
    data = json.loads(built("feishu", secret="s3cret").body)
    expected = base64.b64encode(hmac.new(f"{int(NOW)}\ns3cret".encode(), b"", hashlib.sha256).digest()).decode()
    assert (data["timestamp"], data["sign"]) == (str(int(NOW)), expected)


def test_dingtalk_is_signed_in_the_query_which_never_grows() -> None:
    url = "https://oapi.dingtalk.com/robot/send?access_token=x"
    one = BY_NAME["dingtalk"].build(ask(url=url, secret="SECs"))
    query = parse_qs(urlsplit(one.url).query)
    stamp = str(int(NOW * 1000))
    digest = hmac.new(b"SECs", f"{stamp}\nSECs".encode(), hashlib.sha256).digest()
    assert (query["timestamp"], query["sign"]) == ([stamp], [base64.b64encode(digest).decode()])
    assert len(BY_NAME["dingtalk"].build(ask(url=url, secret="SECs")).url) == len(one.url)


# -- when is it delivered?

TEAMS_FAILED = b"Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error "
CASES: list[tuple[str, int, bytes, TryOutcome]] = [
    ("generic", 200, b"", DELIVERED),
    ("generic", 204, b"", DELIVERED),
    ("generic", 302, b"", NEVER),
    ("generic", 400, b"", NEVER),
    ("generic", 401, b"", NEVER),
    ("generic", 404, b"", NEVER),
    ("generic", 408, b"", LATER),
    ("generic", 410, b"", NEVER),
    ("generic", 425, b"", LATER),
    ("generic", 429, b"", LATER),
    ("generic", 500, b"", LATER),
    ("generic", 503, b"", LATER),
    ("slack", 200, b"ok", DELIVERED),
    ("slack", 200, b"<html>sign in to the wifi", UNCLEAR),
    ("slack", 404, b"no_service", NEVER),
    ("discord", 204, b"", DELIVERED),
    ("discord", 200, b'{"id":"1"}', DELIVERED),
    ("discord", 200, b"hello", UNCLEAR),
    ("discord", 429, b'{"retry_after":1.5}', LATER),
    ("discord", 404, b'{"code":10015}', NEVER),
    ("teams", 202, b"", DELIVERED),
    ("teams", 200, b"1", DELIVERED),
    (
        "teams",
        200,
        TEAMS_FAILED + b"429",
        LATER,
    ),
    (
        "teams",
        200,
        TEAMS_FAILED + b"403",
        NEVER,
    ),
    ("teams", 200, b"hello", UNCLEAR),
    ("feishu", 200, b'{"code":0,"msg":"success"}', DELIVERED),
    ("feishu", 200, b'{"StatusCode":0,"StatusMessage":"success"}', DELIVERED),
    ("feishu", 200, b'{"code":19021,"msg":"sign match fail"}', NEVER),
    ("feishu", 200, b'{"code":19024,"msg":"Key Words Not Found"}', NEVER),
    ("feishu", 200, b'{"code":11232,"msg":"frequency limited"}', LATER),
    ("feishu", 400, b'{"code":9499,"msg":"too many request"}', LATER),
    ("feishu", 200, b"", UNCLEAR),
    ("lark", 200, b'{"code":19001}', NEVER),
    ("dingtalk", 200, b'{"errcode":0,"errmsg":"ok"}', DELIVERED),
    ("dingtalk", 200, b'{"errcode":310000,"errmsg":"sign not match"}', NEVER),
    ("dingtalk", 200, b'{"errcode":130101,"errmsg":"send too fast"}', LATER),
    ("dingtalk", 200, b'{"errcode":true}', UNCLEAR),
    ("wecom", 200, b'{"errcode":0}', DELIVERED),
    ("wecom", 200, b'{"errcode":93000}', NEVER),
    ("wecom", 200, b'{"errcode":45009}', LATER),
    ("telegram", 200, b'{"ok":true,"result":{}}', DELIVERED),
    ("telegram", 200, b'{"ok":false,"error_code":400}', NEVER),
    ("telegram", 400, b'{"ok":false,"error_code":400}', NEVER),
    ("telegram", 429, b'{"ok":false,"error_code":429,"parameters":{"retry_after":9}}', LATER),
    ("telegram", 502, b"<html>", LATER),
    ("telegram", 200, b"<html>", UNCLEAR),
    ("ntfy", 200, b'{"id":"x","event":"message"}', DELIVERED),
    ("ntfy", 200, b"<html>", UNCLEAR),
    ("ntfy", 403, b"", NEVER),
    ("healthchecks", 200, b"OK", DELIVERED),
    ("healthchecks", 200, b"OK (not found)", NEVER),
    ("healthchecks", 200, b"OK (rate limited)", LATER),
    ("healthchecks", 200, b"<html>", UNCLEAR),
    ("email", 250, b"", DELIVERED),
    ("email", 451, b"", LATER),
    ("email", 550, b"", NEVER),
    ("apprise", 200, b"", DELIVERED),
    ("apprise", 500, b"", LATER),
]


@pytest.mark.parametrize(("name", "status", "body", "outcome"), CASES)
def test_the_answer_decides(name: str, status: int, body: bytes, outcome: TryOutcome) -> None:
    verdict = BY_NAME[name].judge(HttpAnswer(status, body), NOW)
    assert verdict.outcome is outcome, verdict.reason
    assert verdict.reason


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_no_answer_whatever_makes_a_judge_fail(name: str) -> None:
    for status in (0, 100, 200, 299, 304, 418, 429, 599, 999):
        for body in (b"", b"\xff\x00", b"[]", b"null", b'{"code":"0"}', b'{"ok":0,"parameters":3}', b"[" * 100000):
            assert BY_NAME[name].judge(HttpAnswer(status, body, "x" * 99, whole=False), NOW).reason


def test_channels_say_when_to_come_back() -> None:
    assert BY_NAME["discord"].judge(HttpAnswer(429, b'{"retry_after":1.5}', "1"), NOW).retry_after_seconds == 1.5
    said = b'{"ok":false,"error_code":429,"parameters":{"retry_after":9}}'
    assert BY_NAME["telegram"].judge(HttpAnswer(429, said), NOW).retry_after_seconds == 9
    assert BY_NAME["dingtalk"].judge(HttpAnswer(200, b'{"errcode":130101}'), NOW).retry_after_seconds == 600


def test_apprise_is_refused_where_it_is_known_to_be_wrong() -> None:
    with pytest.raises(Unusable, match="dingtalk"):
        BY_NAME["apprise"].build(ask(url="apprise+dingtalk://x"))


def test_a_success_with_a_warning_does_not_look_like_any_other() -> None:
    notice = DONE._replace(warning="train: the last loss in its log is nan")
    assert title(notice).startswith("! ")
    assert "done 2/2 in 1h12m, with a warning" in title(notice)
    assert "WARNING: «train: the last loss in its log is nan»" in lines(notice)
    assert title(DONE).startswith("✓ ")


def test_peak_memory_is_the_stages_own_unless_it_says_otherwise() -> None:
    own = FAILED._replace(resources={"peak_tree_rss_bytes": 470_000_000, "peak_working_set_bytes": 1_400_000_000})
    assert "peak memory 470.0 MB" in " · ".join(lines(own)).split(" · ")


def test_a_chain_that_is_done_tells_its_time_and_what_came_out() -> None:
    done = DONE._replace(
        event="chain_done", state="done", stage=None, attempt=None, stages_total=2, duration_seconds=36_720.0,
        progress="train 5155/5155 loss 0.41", warning=None,
    )  # fmt: skip
    assert title(done).startswith("✓ digits done 2/2 in 10h12m on ")
    assert any("train 5155/5155 loss 0.41" in line for line in lines(done))
