"""docs/trust.md, rendered from the table of delicate keys. Pure."""

from __future__ import annotations

from onbox.config.trust_keys import ACT, CHAIN, ENGINE, LOOK, ROWS, SSH, TELL

NEEDED_BY = {
    SSH: "every look at a box behind ssh",
    LOOK: "looks of `patrol`, `sentinel`, `handbook`",
    ACT: "what a tick does beyond looking; `handbook log`",
    TELL: "relays of `patrol tick`, `onbox notify test`, `sentinel wait --notify`, `onbox chain NAME=COMMAND`",
    ENGINE: "`onbox chain`, `check` with Ray or Iris, and looks at them",
    CHAIN: "`onbox chain NAME=COMMAND`",
}
HEADER = """\
# What `onbox.toml` may do once you have accepted it

Rendered from `onbox/config/trust_keys.py` by `python scripts/gen_docs.py`.

`onbox.toml` travels with the project, so it may be a stranger's. Reading it (`onbox status`, `runs`, `check`,
`patrol tick`, `sentinel wait`, `handbook`) runs nothing from it, hands out no key and writes nothing outside the
project, until somebody has accepted the keys below on this machine, once:

    onbox trust             # shows them, and what each does, and asks
    onbox trust --show      # only shows them; 78 while one is not accepted
    onbox trust --revoke

At a terminal the first command that needs such a key shows it and asks. Without one nobody is asked: the key is as
if it did not stand in the file, and one line says so. A command that cannot do without it ends with 78; `patrol
tick` looks at all other boxes and says it at every tick, and once to whom `[notify]` names.

What you accepted stays accepted until one of these keys changes: a hash of each is kept in
`$XDG_STATE_HOME/onbox/trust/` (`~/.local/state`), by the file's real path. Other keys may change as often as you
like. A file of the project that such a key names (`ssh -F ./ssh_config`, `file:hook`) is part of it; what that file
names in turn is not. What `patrol add` writes is accepted with it. Nothing in the project can accept itself.

`onbox chain` with the file's own stages is your word for them: they run with all your rights, so nobody asks about
the rest of this machine's side either. An engine is asked about: there the stages run elsewhere, and what hands
them over runs here.

Where nobody can be asked (CI, containers) the environment says it, which is the user's own: `ONBOX_TRUST=HASH` with
the hash that `onbox trust --show` prints accepts exactly these keys with these values, in any checkout;
`ONBOX_TRUST=all` whatever the file says. `ONBOX_SSH_COMMAND` is the user's own word, too, and stands in place of
`[ssh] command`.

| key | it | needed by |
| --- | --- | --- |
"""
FOOTER = """
Not asked about: `command = "ssh"`, `recover = "never"`, `git = "never"`, addresses of this machine, paths that stay
in the project, `env:` references of `[notify]`. `TABLE.env` stands for `run.env` and `stages.*.env`; asked about
are only variables by which a program runs code that its command does not name.
"""


def render_page() -> str:
    """The page's whole text."""
    rows = [row for row in ROWS if ".env." not in row.pattern]
    loaders = [row for row in ROWS if row.pattern.startswith("run.env.")]
    lines = [f"| `{row.pattern}` | {row.does} | {NEEDED_BY[row.use]} |\n" for row in rows]
    names = ", ".join(f"`{row.pattern.removeprefix('run.env.')}`" for row in loaders)
    lines.append(f"| `TABLE.env`: {names} | {loaders[0].does} | {NEEDED_BY[CHAIN]} |\n")
    return HEADER + "".join(lines) + FOOTER
