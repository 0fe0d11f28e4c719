"""Rows about disks and files: full, no inodes, quota, refused, damaged checkpoints and data. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import CAUSE, RuleRow

SPACE: tuple[RuleRow, ...] = (
    RuleRow(
        "watch-limit",
        "config_error",
        CAUSE,
        "inotify",
        r"inotify.{0,60}(?:limit|no space|watch)",
        "inotify(7)",
        "OSError: [Errno 28] inotify watch limit reached",
    ),
    RuleRow(
        "quota",
        "quota_exceeded",
        CAUSE,
        "quota|edquot|errno|system error",
        r"\binsufficient_quota\b|exceeded your current quota"
        r"|disk quota exceeded|\bEDQUOT\b|errno (?:= )?122\b|system error -122\b|quota (?:is |has been "
        r"|was )?(?:exceeded|exhausted|reached)"
        r".{0,60}(?:disk|home|user|group|file|volume|stor|block|inode)|(?:storage|file|block|user|group"
        r"|project|inode) (?:quota|limit)"
        r" (?:exceeded|reached|exhausted)|exceed\w{0,24} (?:your |the |its )?(?:\w{1,40} )?(?:disk|storage|file"
        r"|home) ?quota|over (?:its |your |the )?(?:disk |data )?quota",
        "Linux EDQUOT, Lustre, NFS",
        "OSError: [Errno 122] Disk quota exceeded: '/home/u/cache/x'",
    ),
    RuleRow(
        "inodes",
        "inode_exhausted",
        CAUSE,
        "inode",
        r"(?:no|out of|zero|0) (?:free |more |available )?inodes|inodes?.{0,40}(?:exhausted|ran out|used up"
        r"|full\b|100 ?%)"
        r"|not enough (?:free )?inodes|cannot create inode|ran out of inodes|100%.{0,20}inodes?"
        r"|\bnode was low on resource: inodes\b",
        "Linux, ext4, admin scripts",
        "mkdir: no free inodes on /scratch",
    ),
    RuleRow(
        "no-space",
        "disk_full",
        CAUSE,
        "os error|error|no space left|enospc|errno|not enough disk|disk full|disk is full|not enough space"
        "|not enough free|out of disk"
        "|insufficient disk|insufficient space|filesystem full|file system full|ran out of space"
        "|device is full|out of space"
        "|insufficient free|' is full|disk space|low on resource|storage full|volume is full|no free space|low on disk",
        r"no space left on(?! device\.\w{1,4}$)"
        r"|\bthe table '.{1,80}' is full\b|\bENOSPC\b|errno:? 28\b|os error 28\b|\berror:? 28\b"
        r"|not enough (?:free )?(?:disk )?space\b"
        r"(?! .{0,16}\b(?:buffer|arena|pool|context|queue|stack|heap|table|workspace|allocate)\b)"
        r"|(?:disk|filesystem|file ?system|device|storage|volume|partition) (?:is )?(?:full\b"
        r"(?![ -](?:guard|check|test|watermark|policy|alarm|alert|threshold|monitor|handler)\b)|out of space)"
        r"|(?<!maybe you are )(?<!perhaps you are )out of disk(?: space)?\b(?!.{0,20}\?)"
        r"|insufficient (?:free )?(?:disk |storage )?space(?! for an object)"  # which sanitizers say of memory
        r"|ran out of (?:disk )?space(?! (?:on|in|for) \w{1,40}_)"
        r"|not enough free disk"
        r"|no free space"
        r"|not enough disk|low on disk space|\bnode was low on resource: (?:ephemeral-storage|nodefs|imagefs)\.",
        "Linux ENOSPC",
        "OSError: [Errno 28] No space left on device",
    ),
    RuleRow(
        "torch-writer",
        "disk_full",
        CAUSE - 1,  # a line that states the reason goes before it
        "pytorchstreamwriter|unexpected pos|iostream error|file write failed|inline_container",
        r"^(?!.*(?:permission denied|not permitted|read-only file|no such file)).*(?:PytorchStreamWriter failed"
        r"|unexpected pos \d+ vs"
        r"|basic_ios::clear: iostream error"
        r"|inline_container\.cc:\d+\].{0,60}(?:write|fail)"
        r"|file write failed)",
        "PyTorch serialization on a full disk; its own reason (strerror) goes first",
        "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos 64 vs 0",
    ),
    RuleRow(
        "short-write",
        "disk_full",
        CAUSE - 1,  # a line that states the reason goes before it
        "synchronously|write error|error writing|requested and|failed to write|failed writing"
        "|unable to write|can't write|errno"
        "|could not write|cannot write|write failed|fwrite"
        "|short write|unable to flush|driver write|wrote only|instead of |incomplete|write(",
        r"(?:errno 5\b|input/output error).{0,120}(?:\.pt|\.ckpt|\.bin|\.safetensors|checkpoint|sav)"
        r"|unable to flush file"
        r"|short write|\bwrite -?\d{1,20} instead of \d|driver write request failed|wrote only \d+ of \d+"
        r"|\d{1,20} requested and \d+ written"
        r"|unable to synchronously (?:flush|extend)"
        r"|file write failed|(?:error|failed|failure) (?:while )?(?:writing|saving).{0,60}(?:errno 5\b|i/o error)"
        r"|^\s*error writing to connection$"
        r"|\bf?write\b.{0,20}\bincomplete\b|\bincomplete f?write\b|\bcheck failed:.{0,40}\bf?write\(",
        "HDF5, NumPy, C library",
        "OSError: 4194304 requested and 1048576 written",
    ),
)

ACCESS: tuple[RuleRow, ...] = (
    RuleRow(
        "permission",
        "permission_error",
        CAUSE,
        "errno|permission denied|permissionerror|operation not permitted|eacces"
        "|read-only file system|eperm"
        "|access is denied|erofs"
        "|permission_denied|readonly |permissions are too open|not writable"
        "|not have permission to|bad permissions|password is required",
        r"PermissionError\b|\bPERMISSION_DENIED: [./~]|errno 13\b|errno 1\b(?=.{0,30}not permitted)"
        r"|(?<!\()\bEACCES\b|\bEPERM\b"
        r"|(?<![\w(])permission denied(?! \((?:publickey|<response))(?!.{0,20}(?:entity|\bproject|publickey"
        r"|\b40[13]\b))"
        r"|exception: \S{1,400} \(permission denied\)$|operation not permitted|read-only file system|errno 30\b"
        r"|^sudo: .{0,40}password is required|access is denied|is not writable|\breadonly database\b",
        "Linux EACCES, EPERM, EROFS",
        "PermissionError: [Errno 13] Permission denied: '/data/out'",
    ),
)

CHECKPOINT: tuple[RuleRow, ...] = (
    RuleRow(
        "torch-reader",
        "checkpoint_corrupt",
        CAUSE,
        "might be corrupted|pytorchstreamreader|central directory|invalid magic number|storage has wrong"
        "|unexpected eof, expected|corrupted file|bad magic number"
        "|not a zip|invalid header or archive|filename 'storages' not found",
        r"PytorchStreamReader failed|failed finding central directory|invalid magic number; corrupt"
        r"|storage has wrong byte size"
        r"|unexpected EOF, expected \d+ more bytes|the file might be corrupted|invalid header or archive is corrupted"
        r"|filename 'storages' not found",
        "torch.load",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
    ),
    RuleRow(
        "safetensors",
        "checkpoint_corrupt",
        CAUSE,
        "safetensor|deserializing header|metadataincomplete|headertoolarge|invalidheader",
        r"SafetensorError(?!: Error while serializ)|error while deserializing header|MetadataIncompleteBuffer"
        r"|HeaderTooLarge|(?<!exceptions\.)InvalidHeader(?!Error)"
        r"|safetensors?\b(?!.{0,60}IncompleteRead).{0,60}(?:corrupt|incomplete|truncated|invalid)",
        "safetensors",
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
    ),
    RuleRow(
        "state-dict",
        "checkpoint_corrupt",
        CAUSE,
        "checkpoint|state dict|shapes of both tensors|restore item|state_dict|missing key|unexpected key"
        "|size mismatch for|checkpoint shape"
        "|does not match the checkpoint|not found in checkpoint"
        "|parameter group",
        r"error\(s\) in loading state_dict|^\W*(?:missing|unexpected) key\(s\) in state_dict"
        r"|size mismatch for [\w.]+: copying a param"
        r"|not found in checkpoint|loaded state dict (?:contains|has)\b"
        r"|key\(?s?\)? .{0,60}(?:missing|not found) (?:in|from) (?:the )?(?:checkpoint|state[ _]dict)"
        r"|assign requires shapes of both tensors"
        r"|user-provided restore item and on-disk value metadata tree structures do not match",
        "load_state_dict, tf.train.Saver, Orbax",
        "RuntimeError: Error(s) in loading state_dict for GPT:",
    ),
    RuleRow(
        "weights-only",  # the file is whole, and its reader was not asked for all that is in it
        "code_error",
        CAUSE,
        "weights only load failed",
        r"\bweights only load failed\b",
        "torch.load",
        "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded",
        rivals=("checkpoint_corrupt",),
    ),
    RuleRow(
        "checkpoint-damaged",
        "checkpoint_corrupt",
        CAUSE,
        "object header|snapshot|.pt|checkpoint|ckpt|optimi|msgpack|unpickling|pickle data|hdf|file signature"
        "|savedmodel|.msgpack|weights"
        "|model file"
        "|ocdbt|zarr|gguf|model is|loading model|load model|model format|restore file",
        r"(?:checkpoint|ckpt|weights?|model file|snapshot|(?<!\d)\.pth?\b|\.gguf).{0,80}(?:corrupt|truncated|damaged"
        r"|incomplete|invalid magic|is empty"
        r"|zero bytes|cannot be read|unreadable|malformed)"
        r"|(?:corrupt|truncated|damaged|incomplete|malformed).{0,54}(?:checkpoint|ckpt|weights? file|model file)"
        r"|UnpicklingError|msgpack\.exceptions|pickle data was truncated"
        r"|unable to (?:synchronously )?open (?:the )?file.{0,60}file signature"
        r"|\bload model from \S{1,200} failed:\s?protobuf parsing failed"
        r"|\b(?:invalid model format|model format error)\b"
        r"|bad object header"
        r"|unable to (?:open|load|restore).{0,60}checkpoint"
        r"|\bmodel (?:file )?is (?:corrupt|truncated|damaged|incomplete)|error loading model:"
        r"|error reading (?:ocdbt|zarr).{0,60}"
        r"|unsuccessful TensorSliceReader|\bbad restore file\b|^\s{0,8}restore file may be from a newer version of R\b"
        r"|(?:failed|unable|could not|cannot) (?:to )?load (?:the )?optimi[sz]er\b"
        r"|(?:checkpoint|ckpt|weights)\b.{0,80}(?:could not|cannot|can't) be (?:loaded|restored|read)"
        r"|checkpoint (?:format )?(?:is |was )?(?:incompatible|not compatible)"
        r"|(?:failed|unable|could not|cannot) (?:to )?(?:load|restore|read) "
        r"(?!(?:the )?(?:sample|shard|record|example|clip|image)\b).{0,60}(?:checkpoint|ckpt"
        r"|\.pth?\b|weights)",
        "pickle, HDF5, TensorFlow, Orbax, own loaders",
        "_pickle.UnpicklingError: pickle data was truncated",
    ),
)

DATA: tuple[RuleRow, ...] = (
    RuleRow(
        "image-damaged",
        "data_error",
        CAUSE,
        "nobackend|data stream|truncated file|image|audio|libsnd|format not|jpeg|png|imread|decode|video"
        "|moov|libpng|tiff",
        r"cannot identify image file|LibsndfileError|format not recogni[sz]ed|NoBackendError"
        r"|image file is truncated|broken (?:data stream|png file)|truncated file read|premature end of jpeg"
        r"|UnidentifiedImageError|corrupt jpeg|(?:jpeg|png|gif|image|video|audio|frame).{0,40}(?:decode"
        r"|decoding) (?:error|failed)"
        r"|(?:failed|unable|error|could not|cannot) (?:to )?decod.{1,60}(?:image|jpeg|png|video|audio"
        r"|frame|sample)|moov atom not found"
        r"|invalid (?:jpeg|png|image)(?: data)?|not a jpeg file|imread.{0,40}(?:can't open|fail)|libpng error"
        r"|unknown image file format",
        "Pillow, OpenCV, TensorFlow, ffmpeg",
        "PIL.UnidentifiedImageError: cannot identify image file '/d/7.jpg'",
    ),
    RuleRow(
        "archive-damaged",
        "data_error",
        CAUSE,
        "database|end-of-stream|central-directory|checksum|truncated|corrupt|gzip|zlib|badzipfile|tar:|tarfile|.tar|crc"
        "|unexpected end|read error in "
        "|is not a database|decompress|netcdf|hdf|grib|zarr|lmdb|leveldb|rocksdb|lzma|zstd|bzip|bad gz|archive"
        "|invalid header|zip|brotli|snappy|end of file"
        "|premature end|.zst",
        r"ended before the end-of-stream|\bend-of-central-directory signature not found|not an? (?:gzip(?:ped)?|zip"
        r"|valid|arrow|parquet|tar|hdf5) file"
        r"|\bnot in (?:gzip|bzip2|xz|zip|tar|lzma|zstd) format|\bis not an? (?:\w{1,20} )?(?:database|archive)\b"
        r"|BadGzipFile|BadZipFile|zlib\.error|\bread error in \S{1,200}: \d{1,18} != \d"
        r"|error -\d while decompressing|crc check failed"
        r"|bad crc-32|\bbad crc [0-9a-f]{8}\b"
        r"|(?<!syntax error: )unexpected end of (?:file|data|archive|input|stream)|tarfile\.\w{0,24}Error"
        r"|tar: (?:unexpected eof|skipping to next|this does not"
        r" look like)|LZMAError|zstd.{0,30}(?:error|corrupt)|gzip: .{0,80}(?:invalid|unexpected|crc)"
        r"|corrupt (?:gzip|zip|archive|deflate|snappy|input)"
        r"|decompress\w{0,24} (?:error|failed)|\berrors? (?:during|while|in) (?:\w{1,20} )?decompress\w{0,8}"
        r"|\b(?:netcdf|hdf5?|grib|zarr|lmdb|leveldb|rocksdb)\b.{0,12}\berror\b|(?:crc|checksum)s? (?:mismatch|error"
        r"|did not match)"
        r"|invalid block type"
        r"|truncated (?:tar|zip|archive)|\.(?:zst|gz|xz|bz2)\b.{0,40}\bpremature end",
        "gzip, zlib, tar, zip, zstd",
        "EOFError: Compressed file ended before the end-of-stream marker was reached",
    ),
    RuleRow(
        "record-damaged",
        "data_error",
        CAUSE,
        "corrupt|datalosserror|data_loss|truncated|parquet|arrow|tokenizing data|malformed|damaged"
        "|jsondecodeerror|unicodedecodeerror|unparsable|byte sequence"
        "|loading the|hdf|unreadable|empty|bad|broken|missing|thrift|checksum|datasetgeneration|hash mismatch"
        "|parsererror|arrowinvalid|nonmatching|in json at position|end of json input|parse error|moov atom"
        "|invalid data found|error reading header|out of range|time data|unconverted data|token too long",
        r"\b(?:day|month|hour|minute|second) (?:is out of range for month|must be in \d)"
        r"|time data .{1,80} (?:does not|doesn't) match format|unconverted data remains|bufio\.Scanner: token too long"
        r"|\b(?:invalid byte sequence for|has no equivalent in) encoding\b"
        r"|\berror loading the (?:db|database|dataset|index|dump): invalid argument\b"
        r"|SyntaxError: .{1,80} (?:in JSON at position \d|of JSON input)|corrupted record|\bCorrupt\w{0,24}(?:Error"
        r"|Exception)\b|\b(?:empty|broken|bad|unreadable"
        r"|invalid) (?:annotation|label|sample|record|shard"
        r"|example|image|audio)s?(?: file)?\b|DataLossError|DATA_LOSS|parquet magic bytes"
        r"|parquet file size is 0|is not a parquet file\b|couldn't deserialize thrift"
        r"|ArrowInvalid(?!.{0,80}(?:could not convert"
        r"|did not recognize))"
        r"|error tokenizing data|JSONDecodeError|UnicodeDecodeError|DatasetGenerationError"
        r"|NonMatching\w{1,40}Error|pandas\.errors\.(?:Parser|EmptyData)Error"
        r"|(?:file|shard|sample|record|image|data|index|chunk|row|dataset|parquet|page|block"
        r"|label)\w{0,8}\b.{0,60}(?:is|are|was|seems?|appears?(?: to be)?|may be"
        r"|looks?|:) (?:corrupt|truncated|damaged|malformed|unreadable)\w{0,24}|(?:corrupt|truncated|damaged"
        r"|malformed|unreadable)\w{0,24} (?:\w{1,40} )?(?:file|shard|sample"
        r"|record|image|data\b|index|chunk|row|line|page|tfrecord|parquet|block|example|label)|(?:sha256|md5"
        r"|checksum|hash)\b.{0,30}mismatch|truncated file"
        r"|unable to (?:synchronously )?open (?:file|object).{0,40}(?:truncated|signature|bad)"
        r"|^(?:jq: )?(?:error \(at \S{1,200}\): |parse error: ).{1,120} at (?:EOF at )?line \d+, column \d+"
        r"|\] (?:moov atom not found|reached eof, corrupted \S|error reading header)"
        r"|: Invalid data found when processing",
        "TFRecord, Arrow, pandas, json, HDF5",
        "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 1200",
    ),
    RuleRow(
        "no-number",
        "data_error",
        CAUSE,
        "could not convert string|invalid literal for|numberformat|strconv.|invalid digit|invalid float literal"
        "|invalid input syntax|parseinterror|parsefloaterror|invalid value for ",
        r"could not convert string to (?:float|int|complex)|invalid literal for (?:int|float|decimal)"
        r"|NumberFormatException|strconv\.(?:Parse\w{2,8}|Atoi): parsing"
        r"|(?<!>: )(?<!>': )(?:invalid digit found in string|invalid float literal)"  # no option, as of clap
        r"|Parse(?:Int|Float)Error|invalid input syntax for (?:type )?(?:integer|numeric|double|real|bigint|date)"
        r"|invalid value for (?:Float|Integer|Rational|Complex)\(",
        "Python, Java, Go, Rust, Ruby, PostgreSQL",
        "ValueError: could not convert string to float: 'n/a'",
    ),
    RuleRow(
        "data-not-finite",
        "data_error",
        CAUSE,
        "allow|accept|support|input contains|input x contains|input y contains|label contains|too large for dtype"
        "|nan found in|check your data|labels must be",
        r"input (?:x |y )?contains (?:nan|infinity)|label contains nan|(?:nan|inf) found in (?:the )?(?:input"
        r"|data|label|feature)|(?:not|n't) (?:allow|accept|support)\w* (?:nans?|missing)\b",
        "scikit-learn, XGBoost",
        "ValueError: Input X contains NaN.",
    ),
    RuleRow(
        "input-output-error",
        "data_error",
        CAUSE,
        "input/output error|disk i/o error|stale file handle|errno|remote i/o|transport endpoint|stale nfs",
        r"input/output error(?!:)|\bdisk i/o error\b|errno 5\b|stale (?:nfs )?file handle|errno 116\b"
        r"|remote i/o error|errno 121\b"
        r"|transport endpoint (?:is not connected|shutdown)|errno 10[78]\b.{0,80}['\"]/",
        "Linux EIO, ESTALE",
        "OSError: [Errno 5] Input/output error: '/mnt/nfs/shard-1.tar'",
    ),
)
