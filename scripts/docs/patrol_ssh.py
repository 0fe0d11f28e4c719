"""The table of reasons in docs/patrol-ssh.md, rendered from the code. Pure."""

from __future__ import annotations

from patrol.ssh.client_errors import BEHIND_JUMP, BY_PHASE, LATE, OVER, WORDS
from patrol.ssh.unreachable_reasons import REASONS

BEGIN, END = "<!-- rendered by scripts/gen_docs.py -->\n", "<!-- end -->\n"
OTHERWISE = {
    "shell": "the remote command ended with a code of its own and without the answer's end",
    "cut": "the login had worked, then the client ended; or more bytes came than allowed",
    "untrusted": "`onbox trust --show`",
    "unknown": "none of these words",
}


def renew(page: str) -> str:
    """The page with its table renewed."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    head = "| reason | what is said | known by | what to do |\n| --- | --- | --- | --- |\n"
    rows = "".join(f"| `{r.key}` | {r.says} | {_known_by(r.key)} | {r.remedy} |\n" for r in REASONS)
    return f"{before}{BEGIN}{head}{rows}{END}{after}"


def _known_by(key: str) -> str:
    words = [f"`{row.example}`" for row in (*WORDS, *OVER, *BEHIND_JUMP) if row.reason == key != BY_PHASE]
    late = [f"deadline: {words}" for reason, words in LATE.values() if reason == key]
    otherwise = [OTHERWISE[key]] if key in OTHERWISE else []
    return "; ".join([*words[:2], *late, *otherwise]).replace("|", "\\|")
