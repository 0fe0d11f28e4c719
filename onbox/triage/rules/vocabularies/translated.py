"""The texts of the commonest error numbers as the C library tells them in other languages than English. Pure.

As in the translations of glibc (its `po` files): tools, shells and Python print them in the language of the login.
"""

from __future__ import annotations

from onbox.triage.rules.rows import BUG, CAUSE, RuleRow


def _row(name: str, failure_class: str, explains: int, texts: tuple[str, ...], example: str) -> RuleRow:
    said = "|".join(texts)
    need = "|".join(text.partition("(")[0] or text.rpartition(")")[2] for text in texts)
    return RuleRow(name, failure_class, explains, need, rf"(?:[:\]'\"»] ?|^)(?:{said})(?:\W|$)", "glibc", example)


TRANSLATED: tuple[RuleRow, ...] = (
    _row(
        "translated-no-space",
        "disk_full",
        CAUSE,
        (
            "auf dem gerät ist kein speicherplatz mehr verfügbar", "aucun espace disponible sur le périphérique",
            "no queda espacio en el dispositivo", "spazio esaurito sul device",
            "não há espaço disponível no dispositivo",
            "на устройстве не осталось свободного места", "デバイスに空き領域がありません", "设备上没有空间",
            "장치에 남은 공간이 없음", "brak miejsca na urządzeniu",
        ),
        "cp: Fehler beim Schreiben von 'e2.bin': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
    ),
    _row(
        "translated-no-rights",
        "permission_error",
        CAUSE,
        (
            "keine berechtigung", "permission non accordée", "permiso denegado", "permesso negato", "permissão negada",
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
            "nie ma takiego pliku ani katalogu",
        ),
        "cat: /data/list.txt: そのようなファイルやディレクトリはありません",
    ),
)  # fmt: skip
