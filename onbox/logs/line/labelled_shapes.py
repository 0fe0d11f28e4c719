"""What stands around the word for what is counted: the number behind it, or an epoch that is written short. Pure."""

from __future__ import annotations

from onbox.logs.line.numbers import COUNT
from onbox.logs.line.shapes import GAP, OF
from onbox.regex import lazy

_LETTER = "A-Za-zÀ-ÿА-яё"
WORD = lazy(rf"(?<![{_LETTER}])[{_LETTER}]+(?![{_LETTER}])")
# ESPnet: 12epoch:train:1501-1600batch, 12/40epoch started; [e:12]
BEFORE_EPOCH = lazy(
    r"(?<![\w.])(?P<epoch>\d{1,18})(?:/(?P<epochs>\d{1,18}))?(?:epoch(?::| started)|-epoch(?=\s?[(\[:]))"
    r"|\[[eE](?:[:=]\s?|(?=\d{1,5}\] (?:step|it|iter|batch)(?![a-z])))(?P<short>\d{1,18})\]"
)
# E001/60 it 22/44; `e3 s1000 | G 1.7`, `e5 it  100 kd 0.3`
EPOCH_AND_STEP = lazy(
    r"\s{0,8}[eE](?P<epoch>\d{1,6})[ :,/]{1,3}(?:[sbi]|(?:it|iter|step|batch)\s{0,6}[:=]?\s{0,6})(?P<current>\d{1,12})"
    r"(?=\s?[\s:|,;])"
)
# `e38  correct 4504/5120  loss 0.3191`
SHORT_EPOCH = lazy(
    r"\s{0,8}[eE][pP]?(?P<epoch>\d{1,5})\s?[:|]?\s{1,4}(?=[A-Za-z|].{0,120}(?:loss|acc|top-?1|(?<![a-z])(?:trn|val|ppl|lr)(?![a-z])))"
)
# `e3 mse 0.52`: a figure with any other name, so that it must go on
SHORT_MEASURED = lazy(
    r"\s{0,8}[eE][pP]?(?P<epoch>\d{1,5})\s?[:|,]?\s{1,4}(?=[a-z][\w/-]{1,20}(?:\s?[:=]\s{0,4}|\s{1,4})-?\d{1,9}\.\d)"
)
EPOCH_OF = lazy(r"(?<!\S)[eE](?:[pP]\.?)?(?P<epoch>\d{1,6})/(?P<epochs>\d{1,6})(?=[\s:,|\]])(?P<short>)")
# `epoch 5 of 20`, `step: 1200`, `iter [100/500]`, `"current_steps": 1000`
COUNTED = lazy(
    r"(?i)(?P<mode>\((?:train|val|test|eval)\))?(?:[ _](?:[ni](?=\s?[=:])|no|nr|number|numero|número|num|idx|index"
    r"|id(?=\s?[=:])|count|seen|done|processed|completed|of(?=\s?:)))?\.?[\"')\]]*"
    r"(?:\s/\s[^\x00-\x7f][^:=\d]{0,40})?"
    rf"(?P<sep>{GAP}(?:(?:\.{{2,80}}:?|->|:{{1,3}}|[=#|│]|is(?=\s[\[(]?\d{{1,9}}/\d)"
    rf"|-(?=\s\d{{1,6}} ?:)){GAP})?)(?:[\[({{\"'#]{{1,4}}{GAP})?"
    rf"(?!\d{{4}}-\d\d-\d\d)(?P<current>(?<![\d.-]){COUNT})(?:th(?![a-z]))?(?![\w.]{{0,20}}[a-z])(?P<close>{GAP}[\])]?)"
    rf"(?:(?:{GAP}[-=*#~]{{2,80}}{GAP}\()?{GAP}(?:\((?=of ))?"
    rf"(?:{OF}|\|(?=\d{{1,9}}(?:[\])]|\s{{1,4}}[a-z]{{2,12}} -?\d)))"
    rf"{GAP}(?:(?:an? |the )?(?:max(?:imum)?|total)(?: of)?{GAP})?\[?(?P<max>{COUNT}|\?))?"
)
# after an epoch: the batches inside it
BATCHES = lazy(
    rf"[\])]?[\s:,|-]{{0,20}}(?:\([a-z]{{1,20}}\){GAP})?[\[(]{GAP}(?P<current>{COUNT}){GAP}/{GAP}(?P<max>{COUNT})"
    rf"|[\])]?{GAP}[:,|]{GAP}(?P<current2>{COUNT}){GAP}/{GAP}(?P<max2>{COUNT})(?![\w/])"
)
