"""The shapes in which programs show how far they are: one row a shape, tried in order. Pure."""

from __future__ import annotations

import enum
import re

from onbox.logs.line.numbers import COUNT
from onbox.logs.line.words import UNIT_WORD
from onbox.named_tuple import NamedTuple
from onbox.regex import lazy

GAP = r"\s{0,20}"  # bounded, and never beside another one: what is read takes time in proportion to its length
OF = r"(?:/|(?:of|von|sur|de|di|из|van|av)(?!\w)|out of)"
FRACTION = r"\d\s?[kmgtb]?(?:i?b|it)?\s*(?:/|of|von|sur|de|di|из|van|av|out of)"  # in every line that shows one
_BAR = r"[#=>█▉▊▋▌▍▎▏━╸╺─░▒▓■□▰▱◼⣿*•-]"


class Traits(enum.Flag):
    """DRAWN: made for progress, and it counts as such. MEASURED: other numbers are measured beside it. SURE: no word
    before it speaks against it. INNER: it counts inside an epoch.
    """

    NONE = 0
    DRAWN = enum.auto()
    MEASURED = enum.auto()
    SURE = enum.auto()
    INNER = enum.auto()


NONE, DRAWN, MEASURED, SURE, INNER = Traits.NONE, Traits.DRAWN, Traits.MEASURED, Traits.SURE, Traits.INNER


class Shape(NamedTuple):
    """One shape. needs: a line without all of these cannot show it. pattern: groups `current`, `max`, `percent`,
    `elapsed`, `eta`, `epoch`, `rate`, `word`, as far as the shape has them, and `label`, unless the label is all that
    stands before.
    """

    id: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    meaning: str
    source: str
    example: str
    traits: Traits
    fraction: bool  # it shows a count of a count, so a line without a fraction cannot show it


_FREE = r"(?<![\w.,/-])"  # before a count: it is no part of a word, a path or a longer number


def _shape(
    name: str, needs: tuple[str, ...], pattern: str, meaning: str, source: str, example: str, traits: Traits = NONE
) -> Shape:
    return Shape(name, needs, lazy(pattern, re.IGNORECASE), meaning, source, example, traits, OF in pattern)


SHAPES: tuple[Shape, ...] = (
    _shape(
        "transfers",
        ("(xfr#",),
        r"\(xfr#(?P<current>\d{1,12})/(?P<max>\d{1,12})\)",
        "the files that were transferred, behind their bytes",
        "rclone",
        "6.071 MiB / 17.166 MiB, 35%, 2.957 MiB/s, ETA 3s (xfr#103/300)",
        DRAWN | SURE,
    ),
    _shape(
        "tqdm",
        ("%", "/", "[", "<"),
        rf"(?P<percent>\d{{1,9}}(?:\.\d{{1,9}})?)%(?:\s{{0,20}}\|(?P<bar>[^"
        rf"|]*)\|)?{GAP}(?P<current>{COUNT})[a-zA-Z]{{0,20}}{GAP}/{GAP}"
        rf"(?P<max>{COUNT})\s?[a-zA-Z]{{0,20}}{GAP}\[(?P<elapsed>[\d:.dhms]{{1,24}}){GAP}<{GAP}(?P<eta>[^,\]]*)(?P<rate>[^\]]*)",
        "bar with counter, elapsed and remaining time",
        "tqdm, enlighten, HF Trainer, Lightning, kohya, Optuna",
        "steps:  15%|█▌  | 360/2400 [08:49<49:58,  1.47s/it, loss=0.09]",
        DRAWN | SURE,
    ),
    _shape(
        "time-since",
        ("m ", "(", "%)"),
        rf"\d{{1,6}}m \d{{1,2}}s\)? (?:\(- {{0,2}}(?P<eta>\d{{1,6}}m \d{{1,2}}s)\) \(|\()"
        rf"(?P<current>{COUNT}) (?P<percent>\d{{1,3}})%\)",
        "elapsed and perhaps remaining time, then the counter and its share",
        "loops after a well-known tutorial of PyTorch",
        "0m 47s (- 1m 10s) (30000 40%) 2.0168",
    ),
    _shape(
        "tqdm-open",
        (
            "[",
            ",",
        ),
        rf"{_FREE}(?P<current>{COUNT})(?:\s?(?P<word>[a-z]{{1,20}}))?\s{{1,20}}"
        r"\[(?P<elapsed>\d{1,9}:\d\d(?::\d\d)?)(?:<\?)?,(?P<rate>\s{0,8}(?:[\d.]{1,20}"
        r"|\?)\s{0,8}(?:[a-z]{1,20}\s{0,8}){0,2}/[a-z]+[^\]]*)",
        "counter without a maximum",
        "tqdm over an iterator of unknown length",
        "512it [00:03, 170.10it/s]",
        DRAWN | SURE,
    ),
    _shape(
        "alive-open",
        (" in ", "/s)"),
        rf"{_FREE}(?P<current>{COUNT}) in (?P<elapsed>[\d:.]{{1,20}}[hms]?(?:\d{{1,9}}[ms]){{0,3}}) \((?P<rate>[\d.]{{1,20}}[kM]?/s)\)",
        "counter without a maximum, then the time and the rate",
        "alive-progress",
        "crawl |     ◀◀◀     | ▂▄▆ 465 in 5s (97.6/s)",
        DRAWN,
    ),
    _shape(
        "loggable",
        ("rate:",),
        rf"progress on:?\s{{0,4}}(?P<label>.{{0,120}}?)\s(?P<current>{COUNT}|-)[a-z]{{0,20}}/(?P<max>{COUNT}|-"
        rf"|\?)[a-z]{{0,20}}"
        r"\s{1,20}rate:\s?(?P<rate>\S{1,40})\s{1,20}remaining:\s?(?P<eta>\S{1,40})\s{1,20}elapsed:\s?(?P<elapsed>\S{1,40})",
        "one log line a look; large numbers are rounded, the first line's are exact",
        "tqdm-loggable (Levanter, Marin)",
        "Progress on:train 1.61kit/10.0kit rate:52.1it/s remaining:02:41 elapsed:00:31 postfix:loss=3.1",
        DRAWN | SURE,
    ),
    _shape(
        "keras",
        ("/",),
        r"^\s*(?P<current>\d{1,18})/(?P<max>\d{1,18})\s+"
        r"(?:\[(?:\.*[=>][=>.]*\]\s*|\.+\]\s*(?=-\s|$))(?:-\s*(?:ETA:\s*(?P<eta>[\d:]+s?)|\d+m?s))?|━+"
        r"|-\s*\d+[hms])",
        "batches of the epoch above; its ETA is the epoch's",
        "Keras 2 and 3",
        "75/75 ━━━━━━━━━━━━━━━━━━━━ 1s 6ms/step - loss: 0.6044",
        DRAWN | INNER,
    ),
    _shape(
        "train-bracket",
        (
            "[",
            "/",
        ),
        r"(?:^|[\s:|\]])(?P<label>train(?:ing)?|test(?:ing)?|val(?:id(?:ation)?)?|eval(?:uation)?):?\s{0,20}"
        rf"(?:\[?(?P<epoch>\d{{1,18}})(?:/(?P<epochs>\d{{1,18}}))?\]?{GAP})?\[{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})",
        "epoch, then the batches inside it in brackets",
        "timm, Swin, torchvision references",
        "Train: 11 [  10/15 ( 73%)]  Loss: 0.627 (0.744)",
        DRAWN | INNER,
    ),
    _shape(
        "bar",
        (),
        rf"(?:(?<=[\[|│(])|(?<![^\s%]))(?:{_BAR}{{3,}}(?!{_BAR})|{_BAR}{{1,2}}(?!{_BAR})(?=[\s.·]))"
        rf"[\s.·-]{{0,200}}(?![\s.·-])(?:[\])|│]{GAP})?(?:\d{{1,9}}(?:\.\d{{1,9}})?%{GAP})?"
        rf"(?:\| ETA: [\w:.]{{1,12}} \|{GAP})?"
        rf"(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT})(?:{GAP}\[{GAP}(?P<elapsed>[\d:]{{1,24}}){GAP}<{GAP}(?P<eta>[\d:]{{1,24}}))?",
        "a drawn bar, then the counter",
        "click, rich, progressbar2, alive-progress, Lightning's RichProgressBar, Node's cli-progress, Java's progressbar",
        "Preprocess  [################-------]  412/900",
        DRAWN,
    ),
    _shape(
        "counter-bar",
        ("/", "%"),
        rf"{_FREE}[\[(]?(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})[\])]?\s{{1,4}}\[?(?:{_BAR}|_){{3,200}}\s{{0,200}}\]?"
        rf"{GAP}"
        r"(?P<percent>\d{1,3}(?:\.\d{1,9})?)%",
        "a counter, then a drawn bar and the percentage",
        "rich with its columns in another order, Go's pb, Symfony",
        "[Train] [1884/3000] ━━━━━━━━━━━━╺━━━━━━━  63% 0:00:14 / 0:00:24",
        DRAWN,
    ),
    _shape(
        "counter-drawn",
        ("/", "[", "]"),
        rf"{_FREE}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})\s{{1,12}}\[(?=[^\]]{{8,200}}\](?:\s|$)){_BAR}{{0,200}}"
        r"[\s.·]{0,200}\]",
        "a counter, then a drawn bar",
        "custom loops, PHP and shell scripts",
        "  41/180    [######........................] img_0041.jpg",
        DRAWN,
    ),
    _shape(
        "percent-fraction",
        ("%",),
        rf"{_FREE}(?P<percent>\d{{1,3}}(?:\.\d{{1,9}})?)\s?%[\s\])"
        rf"|:]{{0,20}}(?:[(\[]{GAP})?(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT})",
        "a percentage and the counter that makes it",
        "git, progressbar2, dvc",
        "Receiving objects:  61% (185/302)",
        DRAWN,
    ),
    _shape(
        "fraction-percent",
        ("%",),
        rf"{_FREE}(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT}){GAP}(?:[a-z]{{1,20}}\s(?=[a-z]))?"
        rf"(?:[a-z]{{1,20}}{GAP})?(?:\){GAP})?(?:[(\["
        rf"|,:.…-]{{1,8}}{GAP})?"
        r"(?P<percent>\d{1,3}(?:\.\d{1,9})?)\s?%",
        "a counter and its percentage",
        "custom loops, Stan, pytest-like runners",
        "iter 1,240 / 20,000 (6.20%)",
        DRAWN,
    ),
    _shape(
        "named-bracket",
        ("[", ", ", "/"),
        rf"^\s*\[(?P<label>train|val|test|eval)\w{{0,8}}: (?P<epoch>\d{{1,9}}),{GAP}(?P<current>\d{{1,12}}){GAP}/{GAP}(?P<max>\d{{1,12}})\]",
        "what is done, the epoch, and the batches inside it, in one pair of brackets",
        "LTR, PyTracking",
        "[train: 3, 200 / 1000] FPS: 215.2 (249.5)  ,  Loss/total: 0.40084",
        MEASURED | INNER,
    ),
    _shape(
        "two-brackets",
        ("][", "/"),
        rf"^\s*\[{GAP}(?P<epoch>\d{{1,18}}){GAP}/{GAP}(?P<epochs>\d{{1,18}}){GAP}\]\[{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT}){GAP}\]",
        "epoch, then the batches inside it, both in brackets",
        "PyTorch's DCGAN example, custom GAN loops",
        "[3/25][400/1583] Loss_D: 0.5121 Loss_G: 3.1",
        DRAWN | INNER,
    ),
    _shape(
        "bracket-step",
        ("/",),
        rf"(?<![\w\])])[\[(]{GAP}(?P<epoch>\d{{1,9}}){GAP}/{GAP}(?P<epochs>\d{{1,9}}){GAP}[\])][\s:,|-]{{1,6}}"
        r"(?:(?:mini)?batch|step|iter|iteration|sweep|pass|cycle|update|move|sample|chunk|tile|frame|query|example)"
        rf"[\s:#=]{{0,4}}[\[(]?(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT})",
        "epoch in brackets, then the batches inside it with their name",
        "custom loops",
        "[3/50] Step: 150/259, Training Loss: 3.29",
        DRAWN | INNER,
    ),
    _shape(
        "four-counts",
        ("/",),
        r"^\s*(?P<epoch>\d{1,9})/(?P<epochs>\d{1,9})(?:/|[,;\t] ?)(?P<current>\d{1,9})/(?P<max>\d{1,9})(?=\s?[|:,;\t-].*\d\.\d)",
        "epoch of epochs, then the batch of batches, all with slashes",
        "custom loops",
        "162/600/10/17 | 0.29 | 0.18 | Lr:0.001",
        MEASURED | INNER,
    ),
    _shape(
        "files-of-files",
        (" files ", "total "),
        r"\]\s{1,8}(?:\d{1,3}\.\d{2}%\s{1,8})?(?P<current>\d{1,12}) files .{1,40}, total (?P<max>\d{1,12}) files",
        "files and bytes so far, and of how many",
        "restic",
        "[0:02] 201 files 61.700 MiB, total 202 files 62.100 MiB, 0 errors",
        DRAWN | SURE,
    ),
    _shape(
        "whole-iteration",
        ("epoch 0, iteration ", "global_step"),
        r"training epoch 0, iteration (?P<current>\d{1,12})/(?P<max>\d{1,12})(?= .{1,200}global_step: (?P=current)(?!\d))",
        "an iteration that is the global step, of the last one",
        "NeMo 2, which counts up to its max_steps in one epoch",
        "Training epoch 0, iteration 630/9999 | lr: 3e-4 | global_batch_size: 8 | global_step: 630 | reduced_train_loss: 4",
        DRAWN,
    ),
    _shape(
        "epoch-comma-batch",
        ("[", ",", "]"),
        rf"^(?:(?:INFO|DEBUG|\[[^\[\]]{{0,40}}\]|[\d:.,/T-][\d:.,/T -]{{4,30}})[\s:|-]{{0,3}}(?:\w{{1,20}}[:\s]\s?)?)?{GAP}"
        rf"\[{GAP}(?P<epoch>\d{{1,9}}){GAP},{GAP}(?P<current>\d{{1,9}}){GAP}(?:/{GAP}(?P<max>\d{{1,9}}){GAP})?\]"
        rf"(?:[\s:|-]{{0,4}}\[[A-Za-z ]{{1,40}}\])?\s?[:|-]?{GAP}"
        r"(?=\[?[A-Za-z][\w /-]{0,30}[:=]\s{0,8}\[?-?\d{1,18}\.\d)",
        "epoch, then the batches inside it, in one pair of brackets",
        "PyTorch's CIFAR-10 tutorial, I-JEPA",
        "[2,  4000] loss: 1.849",
        MEASURED | INNER,
    ),
    _shape(
        "pass-document",
        ("pass", "#", "/"),
        rf"pass (?P<epoch>\d{{1,18}}), at \w{{1,20}} #(?P<current>{COUNT})/(?P<max>{COUNT})",
        "a pass over the corpus, then the documents inside it",
        "gensim's LDA and LSI",
        "PROGRESS: pass 1, at document #400/1200",
        DRAWN | INNER,
    ),
    _shape(
        "current-total",
        ("total",),
        rf"(?<![a-z_])(?:current|completed|done|finished|processed|(?P<word>step|iter|iteration|update)"
        r"|(?<=\")(?:applied|sent|received|indexed|uploaded|downloaded|copied|migrated|loaded|saved|exported|imported"
        r"|scanned|inserted|written|handled|replayed|restored|verified|embedded|seen))"
        rf"[\"']?{GAP}[:=]{GAP}(?P<current>{COUNT}){GAP}"
        rf"(?:[,;]{GAP})?[\"']?total[\"']?{GAP}[:=]{GAP}(?P<max>{COUNT})(?![\w.])",
        "a counter and its maximum as two neighbouring fields",
        "JSON lines and logfmt of services and renderers",
        '{"progress": {"current": 41, "total": 120}}',
        DRAWN,
    ),
    _shape(
        "states-total",
        ("otal", ", "),
        r"(?<![\w.,])(?P<current>\d{1,12}) (?:done|completed|finished), (?:\d{1,12} [a-z]{3,12}, ){0,6}(?P<max>\d{1,12}) total(?![a-z])",
        "how many are done, the other states, and how many there are in all",
        "azcopy, job queues",
        "60.4 %, 1104 Done, 2 Failed, 734 Pending, 0 Skipped, 1840 Total",
        DRAWN | SURE,
    ),
    _shape(
        "total-done",
        ("total_", "_done"),
        r"\"total_(?P<word>[a-z]{2,20})\":\s?(?P<max>\d{1,18}),\s?\"(?P=word)_done\":\s?(?P<current>\d{1,18})",
        "how many there are and how many are done, as two neighbouring fields",
        "restic, JSON lines of services",
        '{"total_files":553,"files_done":552}',
        DRAWN,
    ),
    _shape(
        "total-first",
        ('total"',),
        r"\"total\":\s?(?P<max>\d{1,18}),\s?\"(?:current|completed|done|finished|processed|created|updated|indexed|copied"
        r"|migrated|handled|imported|exported)\":\s?(?P<current>\d{1,18})(?![\w.])",
        "how many there are, and in the field behind it how many are done",
        "JSON lines of services",
        '{"total": 5200, "created": 900}',
        DRAWN,
    ),
    _shape(
        "cjk",
        ("/",),
        rf"(?:[轮步代次数度骤期捗]{GAP}(?:[:：\[(【（]{GAP})?|진행[률도율상황 ]{{0,4}}[:：]{GAP}|第{GAP})(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})(?![A-Za-z0-9_.])",  # noqa: RUF001 - Chinese
        "a counter beside the Chinese word for step, round or iteration, or that for progress in the languages of the East",
        "custom loops",
        "训练步数: 410/2000",
    ),
    _shape(
        "leading-bracket",
        ("/",),
        rf"^(?:\d{{4}}[-/]\d\d[-/]\d\d[T ][\d:.,]{{8,16}}\s{{1,4}}(?:INFO|DEBUG)?[\s:|-]{{0,4}})?\s*"
        rf"[\[(]{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT}){GAP}[\])](?=\s+\S)",
        "a counter in brackets before what is done",
        "ninja, docker, yarn, cargo-like tools",
        "[212/640] Building CXX object src/a.o",
    ),
    _shape(
        "epoch-of-epochs",
        ("epoch / ",),
        rf"{_FREE}(?P<current>{COUNT}) epoch / (?P<max>{COUNT}) (?P<word>epochs)(?![a-z])",
        "iterations, then the epochs done and to do",
        "Chainer's ProgressBar",
        "       400 iter, 2 epoch / 20 epochs",
        DRAWN,
    ),
    _shape(
        "stamped-bracket",
        ("/", ":", "oss"),
        rf"^(?=[^\[(]{{0,80}}\d\d:\d\d)(?!.*epoch)(?:\S+\s+){{1,6}}?[\[(]{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT}){GAP}[\])](?=.*loss)",
        "a time stamp, a counter in brackets, and a loss",
        "custom loops with a logger",
        "I0101 10:00:00.000 123 train.py:33] [1200/5000] loss=0.3",
        MEASURED,
    ),
    _shape(
        "loss-bracket",
        ("[", "/", "oss"),
        rf"loss\S{{0,24}}\s{{1,20}}\S{{1,24}}\s{{1,20}}\[{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT}){GAP}\]\s*$",
        "a loss, then how many samples of the epoch",
        "PyTorch's beginner tutorials",
        "loss: 2.294637  [ 6464/60000]",
        MEASURED | INNER,
    ),
    _shape(
        "bare-leading",
        ("/",),
        rf"^\s*(?:\[[A-Za-z][\w.-]{{0,20}}\]\s{{1,8}})?"
        rf"(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})(?!,?\s{{1,20}}\d{{1,2}}:\d\d)"
        r"(?=[\s:|,-].*(?:loss|[a-z_]{2}\s?[=:]\s?-?\d{1,18}\.\d)|(?:\s{1,8}-?\d{1,9}\.\d{2,12}){1,8}\s{0,8}$)",
        "a counter that begins the line, and a loss or another number with its name",
        "custom loops",
        "1200/20000 loss: 0.31",
        MEASURED,
    ),
    _shape(
        "running-of",
        (" + ", ") / "),
        r"\((?P<current>\d{1,12}) \+ \d{1,9}\) / (?P<max>\d{1,12})(?![\w.])",
        "what is done and what is under way, of how many",
        "Spark's console",
        "[Stage 0:==============>   (45 + 2) / 48]",
        DRAWN,
    ),
    _shape(
        "done-of",
        (),
        r"(?P<label>(?:processed|processing|completed|done|finished|generated|generating|progress|solved|written|wrote"
        r"|handled|trained|training|running|evaluated|copied|downloaded|converted|building"
        r"|working on)(?:\s[a-z]{1,30})?)"
        rf"[\s:=(]{{0,20}}(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT})",
        "a verb of doing, then the counter",
        "custom loops, joblib, sklearn",
        "Processed 300 of 1000 documents",
    ),
    _shape(
        "fraction-unit",
        (),
        rf"{_FREE}(?P<current>{COUNT}){GAP}{OF}{GAP}(?P<max>{COUNT})\s{{1,20}}(?P<word>{UNIT_WORD})(?![a-z])",
        "a counter, then what it counts",
        "custom loops, pueue, batch tools",
        "3 of 10 epochs done",
    ),
)


def named_with(trait: Traits) -> frozenset[str]:
    """The names of the shapes that have a trait."""
    return frozenset(shape.id for shape in SHAPES if trait in shape.traits)
