"""Secrets out of any text that leaves a process. Pure, standard library only. Text from outside goes through
`onbox.outside`, which asks this.

Rows of one table, each a pattern for one way in which a secret stands in a text: by the name before it, by its own
form, by the URL or the header that carries it. What only looks random (commits, checksums, ids) is left as it is: a
record without them is worth nothing.
"""

from __future__ import annotations

import re
from functools import cache

from onbox.named_tuple import NamedTuple

MASK = "***"
LONG_LINE = 60

# Names of what is secret. The end of a name decides: `token_count`, `tokenizer`, `key_hash` are none. What stands before
# that end is not looked at, so that a search takes time in proportion to its text.
_OWNERS = (
    r"api|access|private|secret|signing|encryption|master|deploy|service|account|admin|auth|license|storage|shared"
    r"|subscription|routing|integration|hmac|webhook|session|cookie|client|consumer|ssh|ssl|tls|wandb|openai|anthropic"
    r"|huggingface|hf|aws|azure|gcp|google|neptune|comet|datadog|dd|sentry|stripe|replicate|mistral|cohere|groq|runpod"
    r"|vast|lambda|modal|sharedaccess|kaggle|gh|github|gitlab"
)
_KEY = rf"(?:{_OWNERS})[_-]?(?:key|pat)(?:[_-]?(?:base64|b64|pem))?"
_KEY_HINT = r"(?:key|pat)(?:[_-]?(?:base64|b64|pem))?s?(?:\\?[\"']?\s{0,40}[=:]|%3[ad])"
_WORD = r"(?:token|jwt|secret|passw(?:or)?d|passphrase|credential|connection[_-]?string)(?:s|\d{1,3})?"
_NAME = rf"[A-Za-z0-9_.-]{{0,40}}?(?:{_KEY}s?|{_WORD})"
_SHORT_NAME = r"(?<=--)pass|(?<=[A-Za-z0-9][_-])(?:pass|pwd|pw|dsn)|(?<![A-Za-z0-9])pwd"
_VALUE = r"\"[^\"]*\"|'[^']*'|\\\"[^\"]*\\\"|[^\s,;&\"'`\\]+"
_OPEN = r"\\?[\"']?\s{0,40}[=:]\s{0,40}|%3[ad]"
_OPENS = ("=", ":", "%3")
_LONG = r"(?=[A-Za-z_.~+/=-]{0,60}[0-9])[A-Za-z0-9_.~+/=-]"
# Variables of an environment in which more follows that word: PASSWORD1, DB_PASSWORD_PROD, SECRET_KEY_BASE.
_VARIABLE = r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT)"
_NOT_THE_VALUE = (
    r"(?!(?:FILE|PATH|DIR|URL|URI|NAME|ID|IDS|TYPE|COUNT|HASH|LIMIT|LEN|LENGTH|SIZE|DIM|TTL|EXPIRY|EXPIRES|PREFIX|SUFFIX)"
    r"(?![A-Z0-9]))"
)
_FOREIGN = r"пароль|contraseña|contrasena|passwort|kennwort|mot de passe|senha|密码|密碼|口令|パスワード|비밀번호|hasło|wachtwoord|parola|şifre"
_QUERY = (
    r"(?:[a-z_-]{0,20}token|x-amz-(?:signature|credential|security-token)|x-goog-(?:signature|credential)|sig|signature"
    r"|key|api_?key|code|auth|secret|pass(?:word)?|pwd|ticket|sign|access_?key(?:_?id)?|awsaccesskeyid|hmac|credential)"
)
_SCHEMES = r"bearer|basic|token|apikey|api-key|key|bot|sso-key|splunk|geniekey|ssws|negotiate|ntlm|oauth"
# Tokens that are known by their own form: a piece of it in lower case, by which a text is worth a look; the form.
_FORMS: tuple[tuple[str, str], ...] = (
    ("hf_", r"hf_[A-Za-z0-9]{20,}"),
    ("api_org_", r"api_org_[A-Za-z0-9]{20,}"),
    ("gh", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    ("github_pat_", r"github_pat_\w{20,}"),
    ("gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[\w.-]{16,}"),
    ("glsa_", r"glsa_\w{30,}"),
    ("k-", r"(?:sk|pk|rk)-[A-Za-z0-9_-]{20,}"),
    ("k_", r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{16,}"),
    ("xox", r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"xapp-[A-Za-z0-9-]{10,}"),
    ("akia", r"AKIA[0-9A-Z]{16}(?![0-9A-Z])"),
    ("asia", r"ASIA[0-9A-Z]{16}(?![0-9A-Z])"),
    ("aiza", r"AIza[\w-]{35}"),
    ("ya29.", r"ya29\.[\w-]{20,}"),
    ("gocspx-", r"GOCSPX-[\w-]{20,}"),
    ("1//0", r"1//0[\w-]{30,}"),
    ("npm_", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-", r"pypi-[\w-]{40,}"),
    ("_v1_", r"(?:do[oprt]|tgp|wandb)_v1_[\w-]{20,}"),
    ("sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("key-", r"key-[0-9a-f]{32}(?![0-9a-f])"),
    ("r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("gsk_", r"gsk_[A-Za-z0-9]{30,}"),
    ("nvapi-", r"nvapi-[\w-]{30,}"),
    ("xai-", r"xai-[A-Za-z0-9]{30,}"),
    ("lin_api_", r"lin_api_[A-Za-z0-9]{20,}"),
    ("sntry", r"sntry[su]_[\w=+/-]{20,}"),
    ("dckr_pat_", r"dckr_pat_[\w-]{20,}"),
    ("atatt3x", r"ATATT3x[\w=-]{20,}"),
    ("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}"),
    ("hv", r"hv[sbr]\.[\w-]{20,}"),
    ("tskey-", r"tskey-[\w-]{16,}"),
    ("dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("age-secret", r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    (":aa", r"\d{8,10}:AA[\w-]{30,}"),
    ("rpa_", r"rpa_[A-Z0-9]{30,}"),
    ("fw_", r"fw_[A-Za-z0-9]{20,}"),
    ("ntn_", r"ntn_[A-Za-z0-9]{30,}"),
    ("secret_", r"secret_[A-Za-z0-9]{40,}"),
    ("pmak-", r"PMAK-[\w-]{30,}"),
    ("eyj", r"eyJ[\w-]{10,200}\.[\w-]{10,}(?:\.[\w-]{6,})?"),
)
# A host or a request's method, and the path so far: a folder may be called `hook`, too.
_OF_A_URL = (
    r"(?:[a-z]{2,5}://[^\s/\"']{1,200}|(?<![\w./-])[\w-]{1,60}(?:\.[\w-]{1,60}){1,8}(?::\d{1,5})?"
    r"|\b(?:GET|HEAD|POST|PUT) )[^\s\"']{0,200}?"
)
# URLs that are secrets themselves: what stands before the secret part.
_HOOKS: tuple[tuple[str, str], ...] = (
    ("hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/"),
    ("/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/"),
    ("/webhookb2/", r"webhook\.office\.com/webhookb2/"),
    ("outlook.office", r"outlook\.office(?:365)?\.com/webhook/"),
    ("/bot/v2/hook/", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"),
    ("api.telegram.org", r"api\.telegram\.org/bot"),
    ("hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/"),
    ("maker.ifttt.com", r"maker\.ifttt\.com/\S{0,80}?/key/"),
    ("hc-ping.com", r"hc-ping\.com/"),
    ("hchk.io", r"hchk\.io/"),
    ("ntfy.sh", r"ntfy\.sh/"),
    ("api.day.app", r"api\.day\.app/"),
    ("sctapi.ftqq.com", r"sctapi\.ftqq\.com/"),
    ("/hooks/", rf"{_OF_A_URL}/hooks/(?=[A-Za-z0-9/]{{20}})"),
    ("cronitor.link", r"cronitor\.link/p/"),
    ("nosnch.in", r"nosnch\.in/"),
    ("webhook.site", r"webhook\.site/"),
    ("pagerduty", r"events\.(?:eu\.)?pagerduty\.com/(?:integration|x-ere)/"),
    ("/hook/", rf"{_OF_A_URL}/hook/(?=[A-Za-z0-9/_-]{{16}})"),
)
_NOT_SAID = (
    r"not\b|set\b|required|missing|invalid|expired|wrong|empty|none\b|no\b|too\b|now\b|ok\b|valid\b|in\b|at\b|the\b|a\b"
    r"|for\b|by\b|from\b|with\b|being\b|never\b|only\b"
)


class SecretForm(NamedTuple):
    """traces: pieces in lower case, one of which a text must hold to be worth a look; (): each long one is. also: one of
    these it must hold, too; (): no more is asked. What the pattern finds is replaced; a third group that is a plain
    number or a word such as `none` stays. hint: a cheap pattern that must be found before a dear one is tried.
    """

    traces: tuple[str, ...]
    pattern: str
    replacement: str = MASK
    hint: str = ""
    also: tuple[str, ...] = ()


# Traces. "patrol" holds "pat", so in most lines of our own it is the second condition that spares the pattern.
_WORDS = ("token", "jwt", "secret", "passw", "passphrase", "credential", "connection")
_NAMED = ("key", "pat", *_WORDS)
_FOREIGN_WORDS = tuple(_FOREIGN.split("|"))
ROWS: tuple[SecretForm, ...] = (
    # a private key, whole or cut off; one line out of the middle of one
    SecretForm(
        ("-----begin",),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    SecretForm(
        (), r"(?m)^(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*[0-9])[A-Za-z0-9+/]{60,}={0,2}$"
    ),
    # headers
    SecretForm(
        ("authorization",),
        r"(?i)\b((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:aws4-hmac-sha256|digest|signature|hawk)\s)[^'\r\n]+",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("authorization",),
        rf"(?i)\b((?:proxy-)?authorization[\"']?\s*[:=]\s*[\"']?(?:(?:{_SCHEMES})\s+)?)[^\s\"'`]+",
        rf"\1{MASK}",
    ),
    SecretForm(("cookie",), r"(?i)\b((?:set-)?cookie2?[\"']?\s*:\s*[\"']?)[^\"'\r\n]+", rf"\1{MASK}"),
    SecretForm(("bearer",), r"(?i)\b(bearer\s+)(?=[A-Za-z_.~+/=-]*[0-9])[A-Za-z0-9_.~+/=-]{16,}", rf"\1{MASK}"),
    SecretForm(
        ("x-",), rf"(?i)\b(x-[a-z-]{{0,30}}(?:key|auth|secret|signature)[\"']?\s*[:=]\s*)({_VALUE})", rf"\1{MASK}"
    ),
    # user:password@ in a URL, and a long user that is a token; URLs that are secrets; ?token=x&y=1
    SecretForm(("@",), r"(\b[a-z][a-z0-9+.-]{0,30}://)[^\s/@:]*:[^\s/@]+@", rf"\1{MASK}@"),
    SecretForm(("@",), r"(\b[a-z][a-z0-9+.-]{0,30}://)(?=[^\s/@]*[0-9])[A-Za-z0-9_-]{20,}@", rf"\1{MASK}@"),
    *(SecretForm((trace,), rf"({hook})[^\s\"'`<>)]+", rf"\1{MASK}") for trace, hook in _HOOKS),
    SecretForm(("?", "&"), rf"(?i)([?&;]{_QUERY})(=)([^\s&;\"'`<>)]+)", rf"\1\2{MASK}", also=("=",)),
    # name=value, name: value, "name": "value"
    SecretForm(_WORDS, rf"(?i)({_WORD})({_OPEN})(?!env:|file:)({_VALUE})", rf"\1\2{MASK}", also=_OPENS),
    SecretForm(("key", "pat"), rf"(?i)({_KEY}s?)({_OPEN})(?!env:|file:)({_VALUE})", rf"\1\2{MASK}", _KEY_HINT, _OPENS),
    SecretForm(
        ("pass", "pwd", "pw", "dsn"),
        rf"(?i)({_SHORT_NAME})({_OPEN})(?!env:|file:|/)({_VALUE})",
        rf"\1\2{MASK}",
        also=_OPENS,
    ),
    SecretForm(
        _NAMED,
        rf"(?<![A-Z0-9])({_VARIABLE}(?:_{_NOT_THE_VALUE}[A-Z0-9]{{1,20}}){{1,3}})({_OPEN})(?!env:|file:|/)({_VALUE})",
        rf"\1\2{MASK}",
        also=_OPENS,
    ),
    SecretForm(
        ("_key", "_pat"),
        rf"((?<!CACHE)(?<!PRIMARY)(?<!FOREIGN)(?<!SORT)(?<!PUBLIC)_(?:KEY|PAT)=[\"']?){_LONG}{{20,}}",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("_key ", "_pat ", "_token ", "_secret ", "_password ", "_key\t", "_token\t"),
        rf"(_(?:KEY|PAT|TOKEN|SECRET|PASSWORD)[ \t]{{1,8}}){_LONG}{{20,}}",
        rf"\1{MASK}",
    ),
    SecretForm(_FOREIGN_WORDS, rf"(?i)({_FOREIGN})(\s{{0,8}}[=:：]\s{{0,8}})({_VALUE})", rf"\1\2{MASK}"),  # noqa: RUF001 - Chinese
    SecretForm(  # a container's environment: a name, and its value in a field of its own
        ("value",),
        rf"(?i)(\bname\\?[\"']?:\s{{0,8}}\\?[\"']?{_NAME}\\?[\"']?,?\s{{0,40}}\\?[\"']?value\\?[\"']?:\s{{0,8}})({_VALUE})",
        rf"\1{MASK}",
    ),
    SecretForm(("sharedaccesssignature",), r"(?i)(SharedAccessSignature)([= ])([\w%&=.+/-]{20,})", rf"\1\2{MASK}"),
    # --name value, -e NAME value, setenv NAME value, -u user:password, -p password
    SecretForm(
        ("--",),
        rf"(?i)(?<![\w.-])(--(?:{_NAME}|(?:[a-z]{{1,20}}-)?pass))(\s{{1,40}}(?:\\\s{{1,40}})?)(?![-<\\])(\"[^\"]*\"|'[^']*'|[^\s\"'`]+)",
        rf"\1\2{MASK}",
        also=(*_NAMED, "pass"),
    ),
    SecretForm(  # of these options most values are words (`--auth basic`) or files
        ("--auth", "--bearer", "cookie", "--pw"),
        rf"(?i)(?<![\w.-])(--(?:auth(?:orization)?|bearer|(?:[a-z]{{1,20}}-)?cookie|pw)[ \t=]{{1,8}}[\"']?(?:(?:{_SCHEMES})[ :])?)"
        rf"(?![./~]){_LONG}{{12,}}",
        rf"\1{MASK}",
    ),
    SecretForm(("--with-token",), rf"(--with-token[ \t]{{0,8}}<<<[ \t]{{0,8}})({_VALUE})", rf"\1{MASK}"),
    SecretForm(("redis-cli",), r"(\bredis-cli\b[^\n]{0,80}?\s-a\s)[^\s\"'`-]\S*", rf"\1{MASK}"),
    SecretForm(("vault login",), r"(\bvault login[ \t]{1,8})[^\s\"'`=-][^\s=]{7,}(?=\s|$)", rf"\1{MASK}"),
    SecretForm(("configure set",), rf"(?i)(\bconfigure set[ \t]{{1,8}}{_NAME}[ \t]{{1,8}})({_VALUE})", rf"\1{MASK}"),
    SecretForm(
        ("http ", "https "),
        r"(\bhttps?[ \t][^\n]{0,80}?(?<=\s)(?:-a|--auth)[ =][^\s:\"']{1,80}:)[^\s\"'`]+",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("-e ", "--env", "setenv", "set -"),
        rf"(?i)(?<![\w-])((?:-e|--env|setenv|set -[gUux]{{1,3}})[ \t]{{1,8}}{_NAME})([ \t]{{1,8}})(?!-)({_VALUE})",
        rf"\1\2{MASK}",
    ),
    SecretForm(
        ("-u", "user"),
        r"((?:^|\s)(?:-u|--user|--proxy-user)[ =]{1,8}[\"']?[^\s:\"'=][^\s:\"']{0,120}:)[^\s\"'`]+",
        rf"\1{MASK}",
    ),
    SecretForm(("%",), r"(\s(?:-U|--user)[ =]?[\"']?[^\s%\"'=-][^\s%\"']{0,80}%)[^\s\"'`]+", rf"\1{MASK}"),
    # the same with curl's short options in one word, and with no blank behind them: -su user:password, -uuser:password
    SecretForm(
        ("curl",),
        r"(\s-[A-Za-z#0-9]{0,12}[uU][ \t]{0,4}[\"']?[^\s:\"'/-][^\s:\"'/]{0,80}:)[^\s\"'`]+",
        rf"\1{MASK}",
    ),
    SecretForm(
        (" -p",),
        r"(\b(?:sshpass|docker login|podman login|registry login|mysql|mariadb)\b[^\n]{0,80}?\s-p\s?)[^\s\"'`-][^\s\"'`]*",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("openssl",),
        r"(\bopenssl\b[^\n]{0,200}?\s-(?:k|pass|passin|passout)\s(?:pass:)?)(?!env:|file:|fd:|stdin)[^\s\"'`-]\S*",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("7z", "zip"),
        r"(\b(?:7z[ar]?\b[^\n]{0,80}?\s-p|(?:un)?zip\b[^\n]{0,80}?\s-P\s?))[^\s\"'`-]\S*",
        rf"\1{MASK}",
        also=("-p",),
    ),
    SecretForm(("ldap",), r"(\bldap[a-z]{3,8}\b[^\n]{0,200}?\s-w\s?)[^\s\"'`-]\S*", rf"\1{MASK}"),
    # netrc, and words that say what follows
    SecretForm(
        ("password",),
        r"(?i)(\b(?:login|user|account|machine|default)\s{1,8}\S{1,120}(?:\s{1,8}(?:login|account)\s{1,8}\S{1,120})?"
        r"\s{1,8}password\s{1,8})\S+",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("password", "pass:"),
        r"(?im)^([ \t]{0,40}(?:password\s{1,8}|pass:[ \t]{1,8}))\S+(?=[ \t]{0,40}$)",
        rf"\1{MASK}",
    ),
    SecretForm(("pass: ",), r"(?i)(\b(?:user|login)\b[^\n]{1,80}?\bpass:[ \t]{1,8})\S+", rf"\1{MASK}"),
    SecretForm(
        ("passw", "passphrase"),
        r"(?i)(\b(?:password|passwd|passphrase)[ \t]{1,4})('[^'\n]{1,200}'|\"[^\"\n]{1,200}\")",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("set ", "add "),
        rf"(?i)(\b(?:set|add)[ \t](?:api[-_]?key|token|secret)[ \t]{{1,4}}){_LONG}{{12,}}",
        rf"\1{MASK}",
    ),
    SecretForm(
        ("key", "token", "passw", "passphrase", "passcode", "secret"),
        r"(?i)(\b(?:(?:api|access|secret|private|signing)[ _-]?key|token|password|passphrase|passcode|secret)\b"
        rf"(?:\s{{1,8}}for\s{{1,8}}\S{{1,80}})?\s{{1,8}}(?:is|was|set to|used)(?:\s{{0,8}}:)?)(\s{{1,8}})(?!{_NOT_SAID})([^\s,;]{{6,}})",
        rf"\1\2{MASK}",
    ),
    SecretForm(
        ("wandb",), r"(?i)(\bwandb(?:\.|\s+)login(?:\s+|\()(?:--relogin\s+|key=)?[\"']?)[0-9a-z_-]{30,}", rf"\1{MASK}"
    ),
    *(SecretForm((trace,), rf"(?<![A-Za-z0-9]){form}") for trace, form in _FORMS),
    # one that a terminal broke over two lines
    SecretForm(
        ("hf_", "gh", "glpat-"),
        r"(?<![A-Za-z0-9])(?:hf_|gh[pousr]_|glpat-)[A-Za-z0-9]{10,40}\r?\n[A-Za-z0-9]{4,40}(?!\S)",
    ),
)
# Which rows a trace calls up, so that a text without any is done with some plain searches.
_TRACED = tuple(
    (trace, tuple(number for number, row in enumerate(ROWS) if trace in row.traces))
    for trace in dict.fromkeys(trace for row in ROWS for trace in row.traces)
)
_LONG_ROW = next(number for number, row in enumerate(ROWS) if not row.traces)
_AMOUNT = r"[~<>]?[0-9.,+-]+(?:e[+-]?[0-9]+)?[kmbt]?"
_NUMERIC = rf"(?i)^([\"']?)(?:{_AMOUNT}(?:/{_AMOUNT})?(?:%|/s|/sec|/step)?|true|false|none|null|\*\*\*)\1$"


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """Compiled when the first text holds its trace: a starting runner has no time for all of them."""
    return re.compile(pattern)


def redact(text: str) -> str:
    """`text` with everything that looks like a secret masked. Numbers and booleans stay: `tokens=4096` is no secret."""
    lower = text.lower()
    numbers = {_LONG_ROW} if len(text) >= LONG_LINE else set()
    for trace, rows in _TRACED:
        if trace in lower:
            numbers.update(rows)
    for number in sorted(numbers):
        row = ROWS[number]
        if row.also and not any(piece in lower for piece in row.also):
            continue
        if row.hint and not _pattern(row.hint).search(lower):
            continue
        text = _pattern(row.pattern).sub(lambda found, to=row.replacement: _mask(found, to), text)  # type: ignore[misc]
    return text


def _mask(found: re.Match[str], replacement: str) -> str:
    if found.lastindex == 3 and re.match(_NUMERIC, found[3]):
        return found[0]
    return found.expand(replacement)
