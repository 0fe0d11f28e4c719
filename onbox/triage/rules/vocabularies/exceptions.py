"""What the exceptions of libraries mean by their names: one by one where a name is of its own kind, else by the module
that declares them. Pure.

A name decides where the sentence behind it names no thing with its trouble. Names that are raised for one reason only
decide before it.
"""

from __future__ import annotations

from onbox.regex import lazy

_API_CLIENT = {
    "auth_error": "PermissionDeniedError AuthenticationError",
    "code_error": "BadRequestError UnprocessableEntityError ContextWindowExceededError",
    "network_blip": "RateLimitError OverloadedError InternalServerError APIConnectionError APITimeoutError Timeout",
}
_SQLSTATES = {
    "code_error": "UndefinedTable UndefinedColumn UndefinedFunction SyntaxError DuplicateTable",
    "config_error": "InvalidCatalogName",
    "network_blip": "AdminShutdown TooManyConnections CannotConnectNow CrashShutdown IdleSessionTimeout",
    "data_error": "DataCorrupted IndexCorrupted",
    "auth_error": "InvalidPassword InsufficientPrivilege",
}
_DUCKDB = {
    "code_error": "BinderException CatalogException ParserException SyntaxException",
    "data_error": "SerializationException ConversionException ConstraintException InvalidTypeException",
    "host_oom": "OutOfMemoryException",
    "user_interrupt": "InterruptException",
}
_CERTAIN: dict[str, dict[str, str]] = {
    "torch.cuda": {"cuda_env": "DeferredCudaCallError CudaError"},
    "requests.exceptions": {
        "network_blip": "ContentDecodingError TooManyRedirects",
        "config_error": "MissingSchema InvalidSchema InvalidURL InvalidHeader InvalidProxyURL",
    },
    "urllib3.exceptions": {
        "network_blip": "DecodeError InvalidChunkLength HostChangedError EmptyPoolError ClosedPoolError FullPoolError",
        "config_error": "LocationParseError LocationValueError URLSchemeUnknown ProxySchemeUnknown",
    },
    "httpx": {
        "network_blip": "WriteError DecodingError TooManyRedirects CloseError",
        "config_error": "UnsupportedProtocol InvalidURL",
    },
    "botocore.exceptions": {
        "auth_error": "CredentialRetrievalError TokenRetrievalError SSOTokenLoadError RefreshWithMFAUnsupportedError"
        " PartialCredentialsError NoAuthTokenError LoginRefreshRequired",
        "config_error": "NoRegionError ProfileNotFound ConfigNotFound ConfigParseError InvalidRegionError"
        " UnknownEndpointError InvalidDefaultsMode EndpointVariantError UnknownRegionError",
        "data_error": "ChecksumError FlexibleChecksumError ChecksumMismatch",
    },
    "aiohttp.client_exceptions": {
        "config_error": "InvalidURL NonHttpUrlClientError InvalidUrlClientError NonHttpUrlRedirectClientError",
    },
    "pymongo.errors": {
        "config_error": "InvalidURI ConfigurationError",
        "data_error": "DocumentTooLarge DuplicateKeyError BulkWriteError",
        "code_error": "EncryptionError",
    },
    "redis.exceptions": {
        "code_error": "DataError LockError LockNotOwnedError NoScriptError WatchError",
        "network_blip": "MasterNotFoundError BusyLoadingError MasterDownError MaxConnectionsError ReadOnlyError",
    },
    "kafka.errors": {
        "auth_error": "ClusterAuthorizationFailedError TopicAuthorizationFailedError GroupAuthorizationFailedError",
        "data_error": "OffsetOutOfRangeError CorruptRecordError MessageSizeTooLargeError",
        "config_error": "InvalidTopicError UnsupportedVersionError UnknownTopicOrPartitionError",
    },
    "pandas.errors": {"data_error": "IntCastingNaNError EmptyDataError ParserError OutOfBoundsDatetime"},
    "pika.exceptions": {"network_blip": "AMQPHeartbeatTimeout StreamLostError"},
    "paramiko.ssh_exception": {
        "auth_error": "BadHostKeyException",
        "network_blip": "IncompatiblePeer NoValidConnectionsError",
    },
    "openai": _API_CLIENT,
    "anthropic": _API_CLIENT,
    "litellm.exceptions": _API_CLIENT,
    "google.auth.exceptions": {
        "auth_error": "InvalidOperation InvalidValue InvalidType",
        "network_blip": "ResponseError",
    },
    "huggingface_hub.errors": {
        "config_error": "CacheNotFound DisabledRepoError HFValidationError",
        "network_blip": "OverloadedError InferenceTimeoutError",
    },
    "triton.runtime.errors": {"cuda_assert": "OutOfResources"},
    "google.api_core.exceptions": {
        "auth_error": "PermissionDenied Unauthenticated Unauthorized Forbidden",
        "network_blip": "DeadlineExceeded ResourceExhausted ServiceUnavailable Aborted",
        "config_error": "NotFound AlreadyExists",
        "data_error": "DataLoss",
        "code_error": "FailedPrecondition PreconditionFailed",
    },
    "azure.core.exceptions": {"config_error": "ResourceExistsError ResourceNotFoundError"},
    "docker.errors": {"config_error": "ImageNotFound NotFound ContextNotFound"},
    "psycopg2.errors": _SQLSTATES,
    "psycopg.errors": _SQLSTATES,
    "asyncpg.exceptions": _SQLSTATES,
    "tensorflow.python.framework.errors_impl": {
        "network_blip": "DeadlineExceededError UnavailableError",
        "auth_error": "UnauthenticatedError",
    },
    "tarfile": {"data_error": "ReadError InvalidHeaderError EmptyHeaderError TruncatedHeaderError EOFHeaderError"},
    "_csv": {"data_error": "Error"},
    "java.nio.file": {
        "config_error": "NoSuchFileException FileAlreadyExistsException NotDirectoryException InvalidPathException",
        "permission_error": "AccessDeniedException ReadOnlyFileSystemException",
    },
    "java.io": {"data_error": "StreamCorruptedException UTFDataFormatException EOFException"},
    "java.util.concurrent": {"network_blip": "TimeoutException", "code_error": "CancellationException"},
    "java.net": {"config_error": "MalformedURLException URISyntaxException"},
    "java.sql": {"network_blip": "SQLTimeoutException SQLTransientConnectionException SQLRecoverableException"},
    "org.apache.kafka.common.errors": {"network_blip": "TimeoutException DisconnectException NetworkException"},
    "org.apache.spark.sql.catalyst.parser": {"code_error": "ParseException"},
    "java.lang": {
        "host_oom": "OutOfMemoryError",
        "code_error": "StackOverflowError ClassCastException NullPointerException ArrayIndexOutOfBoundsException"
        " StringIndexOutOfBoundsException IndexOutOfBoundsException ArithmeticException NegativeArraySizeException"
        " ArrayStoreException NoSuchMethodError NoSuchFieldError AbstractMethodError",
    },
    "java.util": {"code_error": "ConcurrentModificationException NoSuchElementException EmptyStackException"},
    "System": {
        "host_oom": "OutOfMemoryException",
        "network_blip": "TimeoutException",
        "permission_error": "UnauthorizedAccessException",
        "code_error": "IndexOutOfRangeException ArgumentNullException BadImageFormatException NullReferenceException",
    },
    "System.IO": {
        "config_error": "DirectoryNotFoundException FileNotFoundException",
        "data_error": "InvalidDataException EndOfStreamException",
    },
    "System.Configuration": {"config_error": "ConfigurationErrorsException"},
    "ray.exceptions": {
        "host_oom": "ObjectStoreFullError",
        "user_interrupt": "TaskCancelledError",
        "ray_node_died": "TaskUnschedulableError ActorUnschedulableError",
    },
    "pyarrow.lib": {"host_oom": "ArrowMemoryError"},
    "lmdb": {"disk_full": "MapFullError DiskError"},
    "distributed.scheduler": {"host_oom": "KilledWorker"},
    "airflow.exceptions": {"time_limit": "AirflowTaskTimeout AirflowSensorTimeout"},
    "celery.exceptions": {"config_error": "ImproperlyConfigured"},
    "polars.exceptions": {"code_error": "ColumnNotFoundError SchemaFieldNotFoundError"},
    "networkx.exception": {"code_error": "NetworkXNoPath NodeNotFound NetworkXUnfeasible"},
    "re": {"code_error": "error"},
    "tables.exceptions": {"data_error": "HDF5ExtError"},
    "docopt": {"config_error": "DocoptExit"},
    "cattrs.errors": {"config_error": "ClassValidationError"},
    "cassandra": {"network_blip": "OperationTimedOut"},
    "argparse": {"config_error": "ArgumentTypeError ArgumentError"},
    "absl.flags._exceptions": {"config_error": "IllegalFlagValueError UnrecognizedFlagError"},
    "pydantic_settings.exceptions": {"config_error": "SettingsError"},
    "duckdb.duckdb": _DUCKDB,
    "_duckdb": _DUCKDB,
    "numpy.linalg": {"code_error": "LinAlgError"},
    "numpy.linalg.linalg": {"code_error": "LinAlgError"},
    "scipy.linalg": {"divergence": "LinAlgError LinAlgWarning"},
    "torch._C": {"divergence": "_LinAlgError"},
}
# What every other exception of such a module is about.
_FAMILIES: dict[str, str] = {
    "network_blip": "requests.exceptions urllib3.exceptions httpx httpcore aiohttp.client_exceptions"
    " aiohttp.http_exceptions redis.exceptions pymongo.errors kafka.errors pika.exceptions"
    " amqp.exceptions kombu.exceptions elastic_transport paramiko websockets.exceptions websocket"
    " socket ssl http.client ftplib smtplib poplib imaplib telnetlib urllib.error java.rmi java.net"
    " javax.net.ssl System.Net aiormq aiokafka nats.errors azure.core.exceptions grpc"
    " sqlalchemy.exc.TimeoutError sqlalchemy.exc.DisconnectionError pycurl aiobotocore",
    "auth_error": "google.auth.exceptions azure.identity jwt.exceptions oauthlib msal",
    "config_error": "click.exceptions typer hydra.errors omegaconf.errors pydantic_settings jsonschema marshmallow"
    " voluptuous cerberus configparser tomllib toml tomlkit ruamel.yaml dynaconf environs decouple"
    " jsonargparse absl.flags argparse confuse strictyaml luigi.parameter botocore.configloader"
    " snakemake.exceptions.MissingRuleException gymnasium.error.NameNotFound"
    " gymnasium.error.NamespaceNotFound gymnasium.error.VersionNotFound gymnasium.error.DeprecatedEnv"
    " gym.error.UnregisteredEnv jinja2.exceptions.TemplateNotFound",
    "data_error": "zipfile tarfile gzip lzma zlib bz2 binascii xml lxml csv PIL soundfile audioread decord"
    " av.error rasterio fiona pyogrio netCDF4 h5netcdf pydicom nibabel astropy.io pysam Bio lmdb bson"
    " msgpack fastavro avro google.protobuf zarr.errors.MetadataValidationError"
    " zarr.errors.UnknownCodecError pandera datasets.exceptions datasets.table"
    " datasets.utils.info_utils polars.exceptions.ComputeError polars.exceptions.NoDataError"
    " pandas.errors.OutOfBoundsDatetime pyarrow.lib.ArrowSerializationError webdataset"
    " huggingface_hub.errors.FileMetadataError ijson orjson ujson java.util.zip"
    " org.apache.hadoop.hdfs.BlockMissingException simplejson pyproj tifffile imageio SimpleITK"
    " mne.io mdtraj MDAnalysis.exceptions gemmi openpyxl xlrd"
    " openslide obspy.io obspy.core.util.obspy_types rdkit.Chem.rdchem ase.io",
}
_OF_MODULE = {module: told for told, modules in _FAMILIES.items() for module in modules.split()}
_NAMED = {
    f"{module}.{name}": told
    for module, lists in _CERTAIN.items()
    for told, names in lists.items()
    for name in names.split()
}
# A caller's own mistake, whatever the library deals with.
_MISUSED = lazy(
    r"(?:Programming|Runtime|Interface|NotSupported|Integrity|Type|Value|Attribute|Key|Index|Encode|Encoding"
    r"|Serialization"
    r"|Assertion|NotImplemented|StreamConsumed|StreamClosed|CookieConflict|UnrewindableBody|ResponseNotRead"
    r"|InvalidOperation|InvalidName|InvalidPipelineStack|ExecAbort|Large\w{1,12}File|Cancelled|Canceled|Conflict"
    r"|Duplicate\w{1,12}|BulkWrite|Usage)(?:Error|Exception)?$"
)


def class_of_certain(name: str) -> str | None:
    """The class of an exception that is raised for one reason only, whatever its sentence says."""
    return _NAMED.get(name) or ("code_error" if name.endswith(".ProgrammingError") else None)


def class_of_module(name: str) -> str | None:
    """The class of what the module of an exception deals with; None where it tells nothing, or the caller is wrong."""
    if "." not in name or _MISUSED.search(name):
        return None
    parts = name.split(".")
    return next((told for end in range(len(parts), 0, -1) if (told := _family(".".join(parts[:end])))), None)


def _family(module: str) -> str | None:
    return _OF_MODULE.get(module)
