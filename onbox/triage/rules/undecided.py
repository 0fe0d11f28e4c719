"""Rows about lines that name a trouble but not its reason, where two classes are as likely: both are told. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import VAGUE, RuleRow

UNDECIDED: tuple[RuleRow, ...] = (
    RuleRow(
        "write-failed",
        "unknown",
        VAGUE + 1,
        "writing|to write|not write|write fail",
        r"\b(?:error|failure) (?:while |when |in |on )?writing (?:to )?(?:the )?(?:\w{1,20} )?(?:file|output|data"
        r"|record"
        r"|checkpoint|buffer|table|stream|standard output)\b"
        r"|\b(?:fail(?:ed|ure)|unable|could not|cannot) (?:to )?write (?:to )?(?:the )?(?:\w{1,20} )?(?:file"
        r"|output|data"
        r"|records?|checkpoint|table|stream)\b"
        r"|\b(?:cannot|could not|unable to) write (?:shards?|chunks?|batch(?:es)?|blocks?|pages?|rows?|results?)\b"
        r"|\bwrite failure\b",
        "programs that cannot write and do not say why",
        "error writing file ./out/step7.wfc",
        rivals=("disk_full", "permission_error", "quota_exceeded"),
    ),
    RuleRow(
        "library-not-initialized",
        "unknown",
        VAGUE + 1,
        "_not_initialized",
        r"\b(?:CUBLAS|CUSOLVER|CUSPARSE|HIPBLAS|ROCBLAS)_STATUS_NOT_INITIALIZED\b",
        "libraries of a card: they cannot start for want of memory, or in a wrong environment",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        rivals=("cuda_oom", "cuda_env"),
    ),
    RuleRow(
        "model-not-loaded",
        "unknown",
        VAGUE + 1,
        "to load |not load ",
        r"\b(?:failed|unable|could not|cannot) (?:to )?load (?:all |any |the |plan |engine |serialized ){0,3}"
        r"(?:models?|engines?|plan file|graph)\b(?!.{0,80}\b(?:config|tokenizer))",
        "servers that cannot load a model and do not say why",
        "error: creating server: Internal - failed to load all models",
        rivals=("config_error", "checkpoint_corrupt"),
    ),
)
