"""How a program says in another language than English that all of its work is done. Pure."""

from __future__ import annotations

import re

from onbox.regex import lazy

_WORK = (
    r"pipeline|proceso|entrenamiento|ejecuci[oó]n|evaluaci[oó]n|an[aá]lisis|processo|treinamento|execu[cç][aã]o"
    r"|avalia[cç][aã]o|addestramento|elaborazione|entra[iî]nement|traitement|ex[eé]cution|[eé]valuation"
)
_WELL = r"exitosamente|con [eé]xito|correctamente|com sucesso|avec succ[eè]s|con successo"
# Of Chinese, Japanese and Korean: the work, and right behind it that it has come to its end.
_DONE = lazy(
    r"(?:训练|评估|测试|推理|任务|运行|执行|处理|实验|程序|流程|全部|所有|訓練|評估|測試)[^未没沒不]{0,8}(?:完成|结束|結束|成功|完毕|完畢)"
    r"|^\W{0,4}(?:完成|成功完成)\W{0,4}$|正常終了|(?:学習|処理|実行|評価).{0,8}(?:完了|終了)"
    r"|(?:학습|훈련|작업|처리|실행|평가).{0,8}(?:완료|종료|성공)"
    rf"|\b(?:{_WORK})\b.{{0,60}}\b(?:{_WELL})\b"
    rf"|\b(?:{_WORK})\b.{{0,20}}\b(?:terminad[oa]|termin[eé]e?|finalizad[oa]|conclu[ií]d[oa]|completat[oa])\W{{0,4}}$"
    rf"|\b(?:finaliza|termina|completa)\w{{0,6}} .{{0,40}}\b(?:{_WELL})\b"
    r"|\berfolgreich (?:abgeschlossen|beendet)\b|успешно (?:заверш|выполн|законч)"
    r"|\b(?:обучение|выполнение|работа) заверш",
    re.IGNORECASE,
)
_NOT_DONE = lazy(
    r"\b(?:no|sin|n[aã]o|sans|non|nicht|не|errore?s?|erros?|fall[oó]s?)\b|失败|失敗|실패|出错|错误|エラー"
    r"|\b(?:epoch|step|fold|trial|batch|round)\W{0,3}\d|第\s?\d",  # or of a part
    re.IGNORECASE,
)
# Of which a line of this kind holds one, in small letters.
PLAIN_WORDS = "exito|correctam|sucesso|succes|termin|finaliz|conclu|erfolgreich"
OTHER_WORDS = "完成|结束|結束|成功|完毕|完畢|終了|完了|완료|종료|성공|éxito|succès|успешно|заверш".split("|")


def says_done(text: str) -> bool:
    """Whether it says so."""
    return bool(_DONE.search(text)) and not _NOT_DONE.search(text)
