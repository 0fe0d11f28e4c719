"""The texts of the commonest error numbers and signals as they are told in other languages than English. Pure.

As in the translations of glibc and bash (their `po` files): tools, shells and Python print them in the language of the
login.
"""

from __future__ import annotations

from onbox.regex import lazy
from onbox.triage.rules.rows import ASKED, BUG, CAUSE, DEATH, PEER, REASON, RuleRow
from onbox.triage.rules.vocabularies.listed import Listed, rows

_PLAIN = lazy(r"[(\\?]|.\?")  # what follows the plain beginning of an expression


def _row(name: str, failure_class: str, explains: int, texts: tuple[str, ...], example: str) -> RuleRow:
    said = "|".join(texts)
    need = "|".join(_PLAIN.split(text)[0] or text.rpartition(")")[2] for text in texts)
    pattern = rf"(?:[:\uff1a\]'\"».] ?|^)(?:{said})(?:\W|$)"
    return RuleRow(name, failure_class, explains, need, pattern, "glibc", example)


TRANSLATED: tuple[RuleRow, ...] = (
    _row(
        "translated-no-space",
        "disk_full",
        CAUSE,
        (
            "auf dem gerät ist kein speicherplatz mehr verfügbar", "aucun espace disponible sur le périphérique",
            "no queda espacio en el dispositivo", "spazio esaurito sul device",
            "não há espaço disponível no dispositivo", "sem espaço livre no dispositivo",
            "kein speicherplatz (?:mehr )?(?:frei|verfügbar)", "espace disque insuffisant", "spazio su disco esaurito",
            "espacio en disco insuficiente", "недостаточно места на диске", "ディスク容量が不足", "磁盘空间不足",
            "디스크 공간이 부족\\w*",
            "на устройстве не осталось свободного места", "デバイスに空き領域がありません", "设备上没有空间",
            "장치에 남은 공간이 없음", "brak miejsca na (?:urządzeniu|dysku)",
            "disk dolu", "disk is vol", "schijf (?:is )?vol", "disken är full", "không đủ dung lượng", "ổ đĩa đầy",
            "لا توجد مساحة كافية على القرص",
        ),
        "cp: Fehler beim Schreiben von 'e2.bin': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
    ),
    _row(
        "translated-no-rights",
        "permission_error",
        CAUSE,
        (
            "zugriff verweigert",
            "keine berechtigung", "permission non accordée", "permiso denegado", "permesso negato", "permissão negada",
            "permissão recusada",
            "отказано в доступе", "許可がありません", "权限不够", "허가 거부", "brak dostępu",
        ),
        "/bin/bash: ligne 1: ./evaluer.sh: Permission non accordée",
    ),
    _row(
        "translated-no-such-file",
        "config_error",
        BUG,
        (
            "datei oder verzeichnis nicht gefunden", "aucun fichier ou dossier de ce (?:type|nom)",
            "no existe el (?:archivo|fichero) o el directorio", "file o directory non esistente",
            "(?:arquivo|ficheiro) ou (?:diretório|pasta) inexistente", "нет такого файла или каталога",
            "そのようなファイルやディレクトリはありません", "没有那个文件或目录", "그런 파일이나 디렉터리가 없습니다",
            "nie ma takiego pliku ani katalogu", "datei \\S{1,200} nicht gefunden", "fichier \\S{1,200} introuvable",
            "archivo \\S{1,200} no encontrado", "файл \\S{1,200} не найден", "ファイルが見つかりません", "文件不存在",
            "配置文件不存在", "找不到配置文件",
            "파일을 찾을 수 없습니다",
            "\\w{0,20}datei (?:wurde )?nicht gefunden", "fichier (?:de \\w{1,20} )?(?:introuvable|non trouvé)",
            "no se (?:encontró|ha encontrado) el (?:archivo|fichero)\\b.{0,60}",
            "arquivo (?:de \\w{1,20} )?não (?:foi )?encontrado",
            "file (?:dei? \\w{1,20} )?non trovato", "файл (?:\\w{1,20} )?не найден", "\\w{0,20}bestand niet gevonden",
            "(?:\\w{1,20} )?dosya(?:s\u0131)? bulunamad\u0131",
            "nie znaleziono pliku\\b.{0,60}", "soubor (?:\\S{1,200} )?nenalezen",
            "hittade inte \\w{0,20}filen",
        ),
        "cat: /data/list.txt: そのようなファイルやディレクトリはありません",
    ),
    _row(
        "translated-no-card-memory",
        "cuda_oom",
        CAUSE + 1,
        (
            "cuda ?(?:显存|内存)(?:不足|溢出)",
            "显存(?:不足|溢出|已满)", "gpu ?メモリ(?:が|ー)?不足", "gpu 메모리(?:가)? 부족",
            "gpu-?speicher (?:voll|erschöpft|reicht nicht)",
            "mémoire (?:du )?gpu insuffisante", "memoria (?:de la )?gpu (?:insuficiente|agotada)",
            "memoria gpu insufficiente",
            "недостаточно (?:видеопамяти|памяти gpu)", "không đủ bộ nhớ gpu",
        ),
        "错误: 显存不足, 请减小批大小",
    ),
    _row(
        "translated-no-memory",
        "host_oom",
        CAUSE,
        (
            "nicht genügend (?:haupt)?speicher(?: verfügbar)?", "kann keinen speicher allozieren",
            "mémoire insuffisante", "ne peut allouer de la mémoire", "impossible d'allouer de la mémoire",
            "memoria insufficiente", "memoria insuficiente",
            "no se pudo asignar (?:la )?memoria", "impossibile allocare (?:la )?memoria",
            "não foi possível alocar memória", "memória insuficiente", "недостаточно памяти",
            "не удаётся выделить память", "メモリを確保できません", "メモリ不足", "无法分配内存", "内存不足",
            "brak pamięci", "onvoldoende geheugen", "yetersiz bellek", "không đủ bộ nhớ",
            "메모리를 할당할 수 없습니다", "메모리(?:가|는)? ?부족\\w*",
        ),
        "python: impossible d'allouer de la mémoire",
    ),
    _row(
        "translated-no-command",
        "config_error",
        BUG,
        (
            "kommando nicht gefunden", "befehl nicht gefunden", "commande introuvable", "comando non trovato",
            "orden no encontrada", "comando não encontrado", "команда не найдена", "コマンドが見つかりません",
            "未找到命令", "명령어를 찾을 수 없음",
        ),
        "run.sh: Zeile 2: pyhton: Kommando nicht gefunden.",
    ),
    _row(
        "translated-damaged",
        "data_error",
        CAUSE,
        (
            "datei ist beschädigt", "datei \\S{1,200} ist beschädigt", "prüfsumme stimmt nicht", "prüfsummenfehler",
            "fichier corrompu", "fichier endommagé", "le fichier \\S{1,200} est corrompu",
            "somme de contrôle incorrecte", "archivo dañado", "archivo corrupto",
            "el archivo \\S{1,200} está dañado", "suma de comprobación incorrecta",
            "file danneggiato", "file corrotto", "arquivo corrompido", "arquivo danificado", "файл повреждён",
            "файл поврежден", "контрольная сумма не совпадает", "ファイルが破損して", "ファイルが壊れて", "文件已损坏",
            "文件损坏", "校验和不匹配", "파일이 손상",
        ),
        "kette 2: Prüfsumme stimmt nicht",
    ),
    _row(
        "translated-no-setting",
        "config_error",
        BUG,
        (
            "unbekannter (?:schlüssel|parameter)", "unbekannte (?:option|einstellung)", "(?:clé|option) inconnue",
            "paramètre inconnu",
            "(?:opción|clave) desconocida", "parámetro desconocido", "(?:chiave|opzione) sconosciuta",
            "parametro sconosciuto", "(?:opção|chave) desconhecida", "parâmetro desconhecido",
            "неизвестный (?:параметр|ключ)", "неизвестная опция", "不明なオプション", "不明なパラメータ", "未知参数",
            "未知的?选项", "알 수 없는 (?:옵션|매개변수|키)",
        ),
        "FEHLER in lauf.toml, Zeile 3: unbekannter Schlüssel 'rate'",
    ),
    _row(
        "translated-no-connection",
        "network_blip",
        PEER,
        (
            "verbindungsaufbau abgelehnt", "verbindung (?:abgelehnt|verweigert|zurückgesetzt)",
            "zeitüberschreitung (?:der|bei der) verbindung", "die wartezeit für die verbindung ist abgelaufen",
            "connexion refusée", "connexion terminée par expiration du délai d'attente", "délai d'attente dépassé",
            "conexión (?:rehusada|rechazada)", "expiró el tiempo de conexión", "tiempo de espera agotado",
            "connessione rifiutata", "connessione scaduta", "conexão recusada", "tempo esgotado para conexão",
            "в соединении отказано", "время ожидания соединения истекло", "соединение разорвано",
            "接続を拒否されました", "接続がタイムアウト\\w*", "拒绝连接", "连接被拒绝", "连接超时",
            "연결이 거부\\w*", "연결 시간 초과", "время ожидания истекло", "не удалось подключиться\\b.{0,80}",
        ),
        "[오류] 저장소에 연결할 수 없습니다: 연결 시간 초과 (5회)",
    ),
    _row(
        "translated-interrupted",
        "user_interrupt",
        ASKED + 3,
        (
            "vom (?:be)?nutzer (?:abgebrochen|gestoppt|beendet)", "abbruch durch (?:den )?(?:be)?nutzer",
            "interrompue? par l'utilisateur", "arrêtée? par l'utilisateur", "annulée? par l'utilisateur",
            "interrumpid(?:o|a) por el usuario", "cancelad(?:o|a) por el usuario", "detenid(?:o|a) por el usuario",
            "interrott(?:o|a) dall'utente", "annullat(?:o|a) dall'utente",
            "interrompid(?:o|a) pelo (?:usuário|utilizador)", "cancelad(?:o|a) pelo (?:usuário|utilizador)",
            "прервано? пользователем", "остановлено? пользователем",
            "отменено? пользователем", "отменён пользователем", "przerwan(?:e|y) przez użytkownika",
            "ユーザーによ(?:り|っ)て?(?:中断|中止|停止)",
            "用户(?:手动)?(?:中断|中止|终止|取消|停止)", "사용자(?:에 의해|가) ?(?:중단|중지|취소)",
        ),
        "Прервано пользователем",
    ),
    _row(
        "translated-time-limit",
        "time_limit",
        REASON,
        (
            "zeitlimit (?:erreicht|überschritten)", "temps (?:limite|alloué) (?:atteint|dépassé|écoulé)",
            "límite de tiempo (?:alcanzado|excedido|agotado)", "tiempo límite (?:alcanzado|excedido|agotado)",
            "limite di tempo (?:raggiunto|superato)", "limite de tempo (?:atingido|excedido)",
            "лимит времени (?:исчерпан|превышен)", "предел времени (?:исчерпан|превышен)",
            "実行時間の上限に達し\\w*", "运行时间(?:限制)?已用完", "超出时间限制", "시간 제한(?:을|이)? ?초과",
        ),
        "Zeitlimit erreicht",
    ),
)  # fmt: skip

SHELLS: tuple[RuleRow, ...] = rows(
    r"^\S.{0,160}: (?:\w{1,10} \d{1,6}|\d{1,6} \w{1,6}) ?: \d{1,9} {}(?: |$)",
    "getötet|processus arrêté|ucciso|terminado (killed)|morto|убито|強制終了|죽었음|已杀死"
    "|abgebrochen|speicherzugriffsfehler|segmentation|abandon|segmento|abortado|segmentazione|annullato|segmentação"
    "|сегментирования|аварийный останов|中止|세그멘테이션|중지됨|段错误|已放弃",
    "bash in German, French, Italian, Spanish, Portuguese, Russian, Japanese, Korean and Chinese",
    Listed(
        "translated-killed",
        "host_oom",
        DEATH,
        r"Getötet|Processus arrêté|Ucciso|Terminado \(killed\)|Morto|Убито|強制終了|죽었음|已杀死",
        "run.sh: Zeile 2: 20331 Getötet                python train.py",
        True,
    ),
    Listed(
        "translated-crash",
        "code_error",
        DEATH,
        r"Abgebrochen|Speicherzugriffsfehler|Erreur de segmentation|Abandon|Violación de segmento|Abortado"
        r"|Errore di segmentazione|Annullato|Fal(?:ta|ha) de segmentação|Ошибка сегментирования|Аварийный останов"
        r"|中止|세그멘테이션 오류|중지됨|段错误|已放弃",
        "run.sh: Zeile 2: 20333 Speicherzugriffsfehler  python train.py",
        True,
    ),
)
