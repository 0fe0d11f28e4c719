"""What a program says right before it takes leave, and what it counts then: a word of the end does not undo it."""

# ruff: noqa: RUF001 - logs in other languages

from __future__ import annotations

import pytest

from onbox.logs.progress import read_progress
from onbox.triage.beside_progress import with_progress
from onbox.triage.classify import classify

FAILED = (
    (
        "loading model llama-7b\nprocessing prompts\nprogress 100/200 answered=0 errors=100\n"
        "progress 200/200 answered=0 errors=200\n"
    ),
    "upload shard 1: retry\nupload shard 2: retry\nuploaded=0 failed=12\n",
    "running checks\nTests: 2 failed, 38 passed\nreport written\n",
    "running data checks\n38 of 40 checks passed\nreport written to checks.html\n",
    "PLAY RECAP *********\nbox1 : ok=12 changed=3 unreachable=0 failed=1 skipped=2 rescued=0 ignored=0\n",
    (
        "Epoche 1/3 Verlust 0.9\nEpoche 2/3 Verlust 0.8\n"
        "Fehler: Datei model.pt konnte nicht geschrieben werden\nFertig.\n"
    ),
    "époque 1/3 perte 0.9\nErreur : impossible d'écrire le fichier modele.pt : espace disque insuffisant\nTerminé.\n",
    "stap 1/3 verlies 0.9\nFout: kan bestand niet schrijven\nKlaar\n",
    "adım 1/3 kayıp 0.9\nHata: dosya yazılamadı\nBitti\n",
    "krok 1/3 strata 0.9\nBłąd: nie można zapisać pliku\nZakończono\n",
    "эпоха 1/3 потери 0.9\nОшибка: не удалось записать файл модели\nГотово\n",
    (
        "01:00:00  Running with dbt=1.7.0\n"
        "01:00:02  1 of 2 OK created sql table model a\n"
        "01:00:03  2 of 2 ERROR creating sql table model b\n"
        "01:00:04  Database Error in model b (models/b.sql)\n"
        '  column "foo" does not exist\n'
        "01:00:04  Done. PASS=1 WARN=0 ERROR=1 SKIP=0 TOTAL=2\n"
    ),
    (
        "sending data\nPermission denied (publickey).\n"
        "rsync: connection unexpectedly closed (0 bytes received so far) [sender]\n"
        "rsync error: unexplained error (code 255) at io.c(228) [sender=3.2.7]\n"
    ),
    "starting job\npython: can't open file '/x/train.py': [Errno 2] No such file or directory\nall done\n",
    "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nError: could not write file model.pt\nDone.\n",
    "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nError: could not write file model.pt\nFinished.\n",
    "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nEpoch 3/3 loss 0.7\nError: could not write file model.pt\nDone.\n",
    (
        "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nEpoch 3/3 loss 0.7\n"
        "Fehler: Datei model.pt konnte nicht geschrieben werden\nFertig.\n"
    ),
    "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nERROR data: shard 3 truncated\nuploading logs ... done\nbye\n",
    "Epoche 2/5 Verlust 0.8\nAbbruch: Grafikkarte nicht gefunden\nFertig.\n",
    "époque 2/5 perte 0.8\nErreur : fichier de données introuvable\nTerminé.\n",
    "эпоха 2/5 потери 0.8\nОшибка: файл данных не найден\nЗавершено.\n",
    "epoch 2/5 verlies 0.8\nFout: gegevensbestand niet gevonden\nKlaar.\n",
    "epoch 2/5 kayıp 0.8\nHata: veri dosyası bulunamadı\nBitti.\n",
    "epoka 2/5 strata 0.8\nBłąd: nie znaleziono pliku danych\nZakończono.\n",
    "época 2/5 pérdida 0.8\nError: no se encontró el archivo de datos\nTerminado.\n",
    "época 2/5 perda 0.8\nErro: arquivo de dados não encontrado\nConcluído.\n",
    "epoca 2/5 perdita 0.8\nErrore: file dei dati non trovato\nFinito.\n",
    "epok 2/5 förlust 0.8\nFel: hittade inte datafilen\nKlart.\n",
    "epocha 2/5 ztráta 0.8\nChyba: soubor nenalezen\nHotovo.\n",
    "collected 12 items\nresult: 0 ok, 12 failed\ndone\n",
    "sent=0 failed=40 skipped=0\nexit\n",
    "download finished: success 0, error 25\n",
    "Done. 0 converted, 18 errors\n",
    "jobs: 8 submitted, 0 succeeded, 8 failed\nreport in r.html\n",
    '{"event":"summary","ok":0,"failed":64}\n',
    "38 passed, 2 failed\nreport written to out.html\n",
    "Ran 40 tests in 0.2s\n\nFAILED (failures=2)\ncoverage report written\n",
    "validated 40 checks: 38 passed, 2 failed\nresult: FAIL\nupload done\n",
    "evaluation finished: answered 0 of 500, 500 timeouts\nresults saved to r.json\n",
)
WELL = (
    "PLAY RECAP *********\nbox1 : ok=12 changed=3 unreachable=0 failed=0 skipped=2 rescued=0 ignored=0\n",
    "эпоха 1/3 потери 0.9\nэпоха 2/3 потери 0.8\nэпоха 3/3 потери 0.7\nОшибок: 0\nГотово\n",
    "Epoche 1/3 Verlust 0.9\nEpoche 2/3 Verlust 0.8\nEpoche 3/3 Verlust 0.8\nmittlerer Fehler: 0.31\nFertig.\n",
    "Epoch 1/3 loss 0.9\nEpoch 2/3 loss 0.8\nEpoch 3/3 loss 0.7\nWarning: could not write file hist.png\nDone.\n",
    "Epoche 5/5 Verlust 0.8\nFehlerrate: 0,02\nFertig.\n",
    "epoch 5/5 verlies 0.8\n0 fouten\nKlaar.\n",
    "epoka 5/5 strata 0.8\nBłąd średni: 0.12\nZakończono.\n",
    "epoch 5/5 kayıp 0.8\nhata oranı: 0.02\nBitti.\n",
    "processed 200/200 ok=200 errors=0\nbye\n",
    "tests: 40 passed, 0 failed\nreport written\n",
    "jobs: 8 submitted, 8 succeeded, 0 failed\nreport in r.html\n",
    "cache: hits=0 misses=300\ndone\n",
    "removed=0 kept=12 errors=0\ndone\n",
    "detections: true positives 0, false positives 0\ndone\n",
)


def class_of(log: str) -> str:
    return with_progress(classify(log.encode()), read_progress(log.encode())).failure_class


@pytest.mark.parametrize("log", FAILED)
def test_leave_is_taken_of_a_failure(log: str) -> None:
    assert class_of(log) != "success_healthy"


@pytest.mark.parametrize("log", WELL)
def test_leave_is_taken_of_work_that_is_there(log: str) -> None:
    assert class_of(log) == "success_healthy"
