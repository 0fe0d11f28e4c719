"""What a complaint is about that begins with a file (`run.toml:12: unknown key`), by what such files hold. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy

_PLACE = r"['\"\u2018\u201c]?(?:[\w~.+-]{1,80}/){0,20}%s['\"\u2019\u201d]?(?:[:,] ?(?:line )?\d{1,9}){0,2}\)?: \S"
_SETTINGS = (
    r"(?:[\w.+-]{1,80}\.(?:ini|toml|ya?ml|cfg|conf|env|hocon|properties|gin)"
    r"|[\w.+-]{0,60}(?:config|settings|hparams|params|args|options)[\w-]{0,40}\.json)"
)
_DATA = (
    r"[\w.+-]{1,80}\.(?:csv|tsv|jsonl|ndjson|parquet|arrow|feather|npy|npz|h5|hdf5|fa|fasta|fastq|fq|vcf|bam|bed|gff"
    r"|png|jpe?g|tiff?|wav|flac|mp3|mp4|tfrecords?|conllu?|txt|xml|xyz|pdb|mtx|libsvm|svm)(?:\.(?:gz|zst|xz|bz2))?"
)
# A parser's complaint that begins with what it reads: `flags: key "beta": no number`.
_NAMES_A_SETTING = lazy(
    r"(?i)(?:params?|parameters?|config\w*|settings?|flags?|options?|args|env)\b.{0,24}\bkey\b"
    r"|.{0,60}\b(?:flag|option) -"
)
_HOLDS = (("config_error", _SETTINGS), ("data_error", _DATA))
_BEGINS_WITH = tuple(
    (
        failure_class,
        lazy(rf"^(?:[\w.-]{{1,40}}: )?(?:(?:error|invalid|problem) )?(?:in |at )?{_PLACE % files}", re.IGNORECASE),
    )
    for failure_class, files in _HOLDS
)


def class_of_file(said: str) -> str | None:
    """The class that the file tells with which a complaint begins; None if it begins with none, or with code."""
    if _NAMES_A_SETTING.match(said):
        return "config_error"
    return next((name for name, begins in _BEGINS_WITH if begins.match(said)), None)
