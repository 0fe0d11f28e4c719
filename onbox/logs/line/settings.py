"""Whether a number with a name is a setting, told before the work begins, and no count of it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onbox.logs.model.lines import message
from onbox.regex import lazy

if TYPE_CHECKING:
    import re

# `cfg.steps=100000`, `cfg.training.epochs : 10`
OF_SETTINGS = lazy(r"(?i)(?<![a-z])(?:cfg|config|args|opts?|hparams|params)\.(?:\w{1,24}\.){0,3}$")
_ONE_SETTING = lazy(r"^[\s,{│├└─-]*[\"']?[\w.-]{1,60}[\"']?\s{0,12}[:=]\s{0,12}[\"']?[\d.]+[\"']?[\s,}]*$")
CONSTANTS = lazy(  # names in capitals, one after another: `LR=0.1, GAMMA=0.9, N_STEP=3, `
    r"(?:(?<![\w'\"])[A-Z][A-Z_]+=[^\s,=]{1,40},?\s+){3}|(?:['\"][A-Z][A-Z_]+['\"]: [^\s,]{1,40},\s+){3}"
)
_SETTINGS = lazy(r"(?:Namespace|Config|Args|Arguments|Params|Options)\(|\{[^{}]{0,400}\{")
_NAMESPACE = lazy(r"(?<![\w.])Namespace\(\w{1,40}=")
CALLED_SETTINGS = lazy(  # `config: {"steps": 60000, "loss": "mse"}`
    r"(?i)(?<![a-z])(?:config(?:uration)?|cfg|arg(?:ument)?s|flags|h?params|(?:hyper[-_ ]?)?parameters|settings"
    r"|options)[\"']?\s{0,4}[:=]\s{0,4}(?:dict\(|[{(])"
)
BESIDE_SETTINGS = lazy(r"(?i)(?<![a-z])(?:optimi[sz]er|scheduler|dataset|device)\s?[:=]\s?[a-z]")
_MAKES_A_MODEL = lazy(
    r"(?i)(?<![a-z])(?:dim|hidden|heads|layers|dropout|seed|neg|ws|window|vocab|workers|threads|d_model|embed\w{0,8})"
    r"[\s=:]{1,3}\d"
)
_NAME_AND_VALUE = lazy(r"(?<![\w.-])[A-Za-z][\w-]{0,30}(?: {1,4}|=|: ?)[-+]?\d[\w.,/-]{0,20}(?=[,;\s|]|$)")
HOW_MANY = lazy(r"(?i)(?<![a-z])(?:epochs|steps|iterations|updates|rounds)[\s=:]{1,3}\d")
_MEASURES = lazy(
    r"(?i)loss|(?<![a-z])(?:acc|err|reward|return|score|energy|residual|ppl|best|eta|time|elapsed|fps|len|speed|success)"
)
_SEED = lazy(r"(?i)(?<![a-z])(?:random_?)?seed[\"']?\s?[:=]\s?\d")
_MORE_BEHIND = lazy(r",\s(?=.*\d)")  # `epochs 50, 500 updates in each`
# What frameworks list among their settings in any case: for DeepSpeed's sampling of data, detectron2's batch norm.
_OF_ANOTHER_THING = lazy(r"'data_sampling': \{|^\s{2,12}NUM_ITER: \d{1,9}$")
_ADVICE = lazy(r"Increase the number of \w{4,12} to ")  # of scikit-learn's warning
_TRACED = lazy(r"\+{1,6} (?:\S{1,60}\[\d{1,6}\])?(?:export |local |declare )?\w{1,60}=\S{0,200}$")  # of `set -x`
# How many of all had a trouble of their own: `2 of 5 trials pruned`, `retried 2/8 shards`.
_ODD = "pruned|skipped|flagged|rejected|retried|dropped"
_LEFT_OUT = lazy(
    r"(?i)^\W*(?:\w{1,20}: )?\d{1,9} ?(?:of|/) ?\d{1,9} [a-z]{3,20} (?:(?:were|was|had|got) )?"
    rf"(?:{_ODD}|warnings?)\b"
    rf"|^\W*(?:\w{{1,20}}: )?(?:{_ODD}) \d{{1,9}} ?(?:of|/) ?\d"
)
NAMED = ("name", "value")
LISTED = 3  # names with their values make a list of settings


def is_in_list(text: str, match: re.Match[str]) -> bool:
    """`alpha 40  reg 0.05  iterations 18`: of several names with their values, and nothing measured."""
    if match["sep"].strip() not in ("", ":") or _MEASURES.search(text):
        return False
    if not match["sep"].strip() and not text[match.end() :].strip() and len(message(text).text.split()) == len(NAMED):
        return True  # `epochs      20`, and nothing else
    return len(_NAME_AND_VALUE.findall(text)) >= LISTED or _MORE_BEHIND.match(text, match.end()) is not None


def is_of_another_thing(text: str) -> bool:
    """Whether its numbers are settings of something else than the run's loops."""
    if (text[:1] == "+" and _TRACED.match(text)) or (text[:8] == "Increase" and _ADVICE.match(text)):
        return True
    if _LEFT_OUT.match(text):
        return True
    return ("data_sampling" in text or "NUM_ITER" in text) and _OF_ANOTHER_THING.search(text) is not None


def is_of_a_model(text: str) -> bool:
    """`start: dim 100 lr 0.05 ws 5 epoch 5 neg 5`: of what makes a model, and no step of its training."""
    return len(_MAKES_A_MODEL.findall(text)) > 1 and "oss" not in text


def is_among_settings(text: str) -> bool:
    """`num_updates: 600 | seed: 1 | lr: 0.05`: beside a seed, and no loss."""
    return _SEED.search(text) is not None and "oss" not in text


def tells_a_setting(text: str, match: re.Match[str], before: str) -> bool:
    return is_quoted(text, before) or is_setting(text) or is_in_list(text, match)


def is_quoted(text: str, before: str) -> bool:
    """`{'iterations': 1500, 'depth': 5}`, and no record of a step."""
    return before[-1:] in ("'", '"') and "loss" not in text.lower()


def is_setting(text: str) -> bool:
    """`  step: 30`, `{"train": {"step": 0, ...}}`: of a configuration, unless it goes on."""
    if "Namespace(" in text and _NAMESPACE.search(text):
        return True  # `Namespace(epoch=5, loss_type='l1')`, whatever it names
    return bool(_ONE_SETTING.match(message(text).text) or (_SETTINGS.search(text) and "loss" not in text.lower()))
