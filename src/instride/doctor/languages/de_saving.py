"""German: saving, cleaning up and compressing."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "save-in-place": Saying(
        title="Checkpoints werden unter ihrem endgültigen Namen geschrieben",
        sentence="Ein Checkpoint wird direkt nach `{target}` geschrieben: Wird der Lauf dabei"
        " abgebrochen, trägt eine halbe Datei den Namen einer ganzen.",
        fix="Daneben schreiben, auf die Platte bringen, dann umbenennen; oder `instride.save`"
        " aufrufen, das alles drei tut.",
    ),
    "save-blocks-training": Saying(
        title="Das Training wartet auf jedes Speichern",
        sentence="Die Schleife bei {loop} steht still, bis `torch.save` alles geschrieben hat.",
        fix="Den Zustand in den Hauptspeicher kopieren und schreiben lassen, während das Training"
        " weiterläuft. Unter Linux tut das `instride.save` anstelle von `torch.save`;"
        " `instride.Saver` setzt auch fort und räumt auf. Anderswo kann es ein Thread. Es braucht"
        " so viel freien Speicher, wie ein Checkpoint groß ist.",
    ),
    "shallow-copy-to-thread": Saying(
        title="Ein Thread speichert, was das Training gerade ändert",
        sentence="`{state}` geht an einen Thread, ohne dass die Tensoren kopiert wurden: Der"
        " Checkpoint vermischt mehrere Schritte.",
        fix="Jeden Tensor kopieren, bevor der Thread ihn bekommt.",
    ),
    "daemon-thread-saves": Saying(
        title="Ein Daemon-Thread schreibt Checkpoints",
        sentence="`{thread}` ist ein Daemon-Thread: Endet das Programm, bricht er mitten im"
        " Schreiben ab.",
        fix="Python auf ihn warten lassen: kein Daemon, oder ein `join()` nach dem letzten"
        " Speichern.",
    ),
    "module-pickled": Saying(
        title="Ein ganzes Modul wird gepickelt",
        sentence="`{module}` wird als Objekt gespeichert statt als Zustand: Ändert sich der Code,"
        " lässt sich die Datei nicht mehr laden.",
        fix="`state_dict()` speichern; beim Laden das Modul anlegen und `load_state_dict()`"
        " aufrufen.",
    ),
    "two-cleaners": Saying(
        title="Zwei räumen alte Checkpoints auf",
        sentence="Alte Checkpoints löscht `{one}`, aber auch `{other}`; keiner weiß vom anderen.",
        fix="Das Löschen einem von beiden überlassen.",
    ),
    "deletes-before-saving": Saying(
        title="Der alte Checkpoint verschwindet, bevor der neue da ist",
        sentence="`{delete}` läuft, bevor der neue Checkpoint geschrieben ist: Dazwischen gibt es"
        " einen weniger, und wenn das Speichern scheitert, bleibt es dabei.",
        fix="Erst löschen, wenn der neue Checkpoint geschrieben ist.",
    ),
    "orders-by-mtime": Saying(
        title="Checkpoints nach Zeit statt nach Schritt geordnet",
        sentence="`{code}` ordnet Checkpoints nach der Zeit ihrer Dateien,"
        " die sich beim Kopieren ändert.",
        fix="Nach dem Schritt im Namen ordnen.",
    ),
    "unanchored-step-pattern": Saying(
        title="Ein Muster für Schritte, das zu viel erfasst",
        sentence="`{pattern}` hält auch `{example}` für einen Checkpoint.",
        fix="Den ganzen Namen vergleichen.",
    ),
    "compressor-beside-training": Saying(
        title="Neben dem Training läuft ein Kompressor",
        sentence="`{command}` komprimiert während des Trainings, ohne eine Priorität, die dort"
        " wirkt.",
        fix="Mit der niedrigsten Priorität starten, und zwar so, dass sie dort wirkt.",
    ),
    "syncer-beside-training": Saying(
        title="Neben dem Training läuft ein Abgleich",
        sentence="`{command}` kopiert Dateien während des Trainings, ohne eine Begrenzung oder"
        " Priorität, die dort wirkt.",
        fix="Die Bandbreite begrenzen und die niedrigste Priorität vergeben.",
    ),
    "whole-file-compression": Saying(
        title="Ganze Checkpoints werden komprimiert",
        sentence="`{setting}` komprimiert ganze Checkpoint-Dateien: Trainierte Gewichte werden"
        " dadurch kaum kleiner.",
        fix="Abschalten.",
    ),
}
UNKNOWNS: dict[str, str] = {}
