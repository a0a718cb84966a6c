"""German: the causes by name, what helps, what else it could be, and how it was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.numbers import GermanNumbers

LOG_TIMES = "davor und danach die Zeit ausgeben"
WATCH = "CPU, Platte und GPU beobachten"
TOKENS = "die Zahl der Tokens pro Schritt ausgeben"


class GermanCauses(GermanNumbers):
    titles: ClassVar[Mapping[str, str]] = {
        "eval": "Evaluierung",
        "first-eval": "Langsame erste Evaluierung",
        "eval-and-save": "Evaluierung und Speichern in einer Pause",
        "closing-eval": "Evaluierung nach dem letzten Schritt",
        "closing-eval-and-save": "Evaluierung und Speichern nach dem letzten Schritt",
        "save": "Synchrones Speichern",
        "closing-save": "Speichern nach dem letzten Schritt",
        "slow-filesystem": "Langsames Dateisystem",
        "growing-saves": "Speichern dauert immer länger",
        "cleanup": "Alte Checkpoints werden im Trainings-Thread gelöscht",
        "aftermath": "Langsame Schritte nach dem Speichern",
        "warmup": "Kompilieren und Caches in den ersten Schritten",
        "recompilation": "Kompilieren mitten im Lauf",
        "startup": "Programmstart",
        "epoch-stalls": "Ein Loader, der mit jeder Epoche neu startet",
        "worker-turns": "Ein Loader mit zu wenigen Workern",
        "shard-switches": "Wechsel zur nächsten Datendatei",
        "data-stalls": "Gelegentliches Warten auf Daten",
        "data-chronic": "Warten auf Daten in jedem Schritt",
        "restart": "Zwischen zwei Prozessen läuft nichts",
        "failed-launches": "Starts vor dem ersten Schritt",
        "never-again": "Starts, die nie trainiert haben",
        "crash-loop": "Absturzschleife",
        "lost": "Doppelt getane Arbeit",
        "allocator-flushes": "Ein Allokator ohne freien Speicher",
        "collector-pauses": "Garbage Collection oder ein aufräumender Allokator",
        "periodic": "Langsame Schritte in gleichen Abständen",
        "closing-unknown": "Unbekanntes nach dem letzten Schritt",
        "slow-zone": "Eine Strecke langsamer Schritte",
        "slow-steps": "Einzelne langsame Schritte",
        "drift": "Schritte, die immer langsamer werden",
        "slower-since-resume": "Langsamer seit einer Fortsetzung",
        "slower-since": "Langsamer ab einem Schritt",
        "faster-since": "Schneller ab einem Schritt",
        "hidden-time": "Zeit, die in keiner ausgegebenen Zahl steckt",
    }
    rungs: ClassVar[Mapping[str, str]] = {
        "stated": "das Log gibt es an",
        "marker": "das Log markiert es",
        "period": "der Abstand passt zu einer Einstellung oder zu markierten Pausen",
        "shape": "nur am Verlauf der Zeiten erkannt",
    }
    cures: ClassVar[Mapping[str, str]] = {
        "evaluate-less": "seltener evaluieren",
        "evaluate-fewer": "auf weniger Batches evaluieren",
        "time-apart": "Evaluierung und Speichern getrennt messen, um zu sehen, was davon teuer ist",
        "save-async": "im Hintergrund speichern",
        "save-less": "seltener speichern",
        "save-more": "öfter speichern, damit weniger verloren geht",
        "save-if-better": "nur speichern, wenn die Evaluierung besser geworden ist",
        "save-near": "auf eine lokale Platte speichern und von dort kopieren",
        "save-once": "prüfen, ob Dateien oder Verläufe bei jedem Speichern neu geschrieben werden",
        "save-on-signal": "speichern, wenn der Prozess beendet werden soll",
        "delete-later": "alte Checkpoints in einem anderen Prozess löschen",
        "yield-to-training": "dem, was den Checkpoint weiterverarbeitet (Komprimieren, Hochladen), "
        "die niedrigste Priorität geben",
        "work-later": "was den Checkpoint weiterverarbeitet, bis zum Ende des Trainings warten "
        "lassen",
        "skip-when-busy": "ein Speichern auslassen, solange das vorige noch geschrieben wird",
        "spend-less": "dem Schreiben einen kleineren Anteil der Schrittzeit zugestehen (ohne "
        "Angabe 0,02)",
        "pack-later": "wenn gepackt wird, erst nach dem Training packen, mit `instride pack`",
        "cache-compiled": "den Compile-Cache zwischen Läufen behalten",
        "cache-startup": "zwischenspeichern, was der Start vorbereitet (tokenisierte Daten, "
        "kompilierter Code)",
        "fix-shapes": "die Shapes fest halten: auffüllen, den letzten kurzen Batch weglassen, mit "
        "einem eigenen Graphen evaluieren",
        "log-recompiles": "den Compiler ausgeben lassen, was er neu kompiliert und warum",
        "keep-workers": "Loader-Worker zwischen Epochen am Leben halten",
        "more-workers": "mehr Loader-Worker einsetzen",
        "prefetch": "mehr Batches vorausladen",
        "prefetch-shard": "die nächste Datendatei im Hintergrund öffnen, bevor sie gebraucht wird",
        "cheaper-data": "in jedem Schritt weniger dekodieren: die Daten einmal aufbereiten oder "
        "eine schnellere Platte nehmen",
        "resume-by-itself": "automatisch fortsetzen, wenn ein Prozess endet",
        "read-error": "die letzte Fehlermeldung im Log lesen",
        "limit-restarts": "nach einigen gleichartigen Fehlern aufhören",
        "collect-on-schedule": "die automatische Garbage Collection abschalten und alle paar "
        "Schritte auf allen Ranks zugleich aufräumen",
        "spare-memory": "dem Allokator mehr Platz lassen: kleinerer Batch, Expandable Segments",
        "compare-intervals": "protokollieren, was die Schleife bei diesen Schritten tut; mit den "
        "eingestellten Intervallen vergleichen",
        "compare-settings": "Batchgröße, Sequenzlänge und andere Jobs vorher und nachher "
        "vergleichen",
        "compare-processes": "Maschine, freien GPU-Speicher und Loader-Einstellungen der beiden "
        "Prozesse vergleichen",
        "print-around": "vor und nach dem, was dort geschieht, eine Zeile mit der Zeit ausgeben",
        "trust-clock": "die Geschwindigkeit nach Zeitstempeln beurteilen, nicht nach der "
        "ausgegebenen Schrittdauer",
        "watch-machine": "CPU, Platte und GPU-Takt beobachten, während es geschieht",
        "watch-memory": "Speicher des Prozesses und Swapping beobachten, während die Schritte "
        "langsamer werden",
        "watch-disk": "die Platte beim Speichern beobachten",
        "watch-clocks": "Takt und Temperatur der GPU beobachten",
    }
    alternatives: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "eval": (
            (
                "Metriken, die nach dem letzten Batch auf einem Kern berechnet werden",
                "die Metriken getrennt messen",
            ),
            (
                "ein Loader, der für die Evaluierung neu startet",
                LOG_TIMES + ": der erste Batch zeigt es",
            ),
        ),
        "first-eval": (
            (
                "eine umfangreichere erste Evaluierung",
                "die Zahl der Batches der ersten beiden vergleichen",
            ),
            ("ein kalter Page Cache", "die Evaluierungsdaten vor dem Start einmal lesen"),
        ),
        "eval-and-save": (("nur eines von beiden", "eines davon einmal weglassen"),),
        "closing-eval": (
            ("eine absichtlich vollständige Evaluierung", "die Zahl der Batches vergleichen"),
        ),
        "closing-eval-and-save": (("nur eines von beiden", LOG_TIMES),),
        "save": (
            (
                "ein langsames Dateisystem",
                "Dateigröße durch Sekunden teilen und mit dd vergleichen",
            ),
            (
                "Serialisierung auf einem Kern",
                "nachsehen, ob die Platte beim Speichern unbeschäftigt ist",
            ),
            (
                "Ranks, die auf den langsamsten warten",
                "die von den Ranks ausgegebenen Zeiten vergleichen",
            ),
        ),
        "closing-save": (("ein Upload oder eine Konvertierung danach", LOG_TIMES),),
        "slow-filesystem": (
            ("Serialisieren auf einem Kern", "nachsehen, ob die Platte beim Speichern ruht"),
            (
                "andere Arbeit, die mitgezählt wird",
                "dort mit dd eine Datei dieser Größe schreiben und die Zeit messen",
            ),
        ),
        "growing-saves": (
            ("eine volllaufende Platte", "den freien Platz ansehen"),
            (
                "andere Jobs auf demselben Speichersystem",
                "neben jedem Speichern das Schreiben einer Datei fester Größe messen",
            ),
        ),
        "cleanup": (
            ("ein langsamer Metadaten-Server", "das Löschen einer kleinen Datei dort messen"),
        ),
        "aftermath": (
            (
                "der Kernel, der Dirty Pages zurückschreibt",
                "Dirty und Writeback in /proc/meminfo beobachten",
            ),
            ("ein Kompressor oder ein Upload", "mit top nach einem beschäftigten Prozess suchen"),
            (
                "ein Allokator, der für das Speichern geleert wurde",
                "wiederholte Allokationsversuche zählen",
            ),
        ),
        "warmup": (
            ("ein kalter Page Cache", "sofort neu starten: sind die ersten Schritte schneller?"),
            ("Autotuning", "nach seinen Zeilen suchen oder es einmal abschalten"),
        ),
        "recompilation": (
            (
                "das Laden von etwas, das zum ersten Mal gebraucht wird",
                "nach Zeilen neben dem Schritt suchen",
            ),
            ("die Evaluierung selbst, dem Schritt danach angerechnet", LOG_TIMES),
        ),
        "startup": (
            (
                "eine Warteschlange für Maschinen oder Daten",
                "in der ersten Codezeile die Zeit ausgeben",
            ),
        ),
        "epoch-stalls": (
            (
                "eine Evaluierung oder ein Speichern ohne Ausgabe",
                "vor beidem jeweils eine Zeile ausgeben",
            ),
            ("ein Mischen aller Daten", "den ersten Batch einer Epoche getrennt messen"),
        ),
        "worker-turns": (
            (
                "Gradientenakkumulation oder Logging in diesem Abstand",
                "mit den Einstellungen vergleichen",
            ),
            (
                "ein Leser von Dateien mit so vielen Einträgen",
                "num_workers ändern: ändert sich der Abstand mit?",
            ),
        ),
        "shard-switches": (
            (
                "etwas, das eine Uhr auslöst",
                "die Zeiten dazwischen vergleichen, nicht die Schritte",
            ),
            ("Garbage Collection", "sie eine Weile abschalten: gc.disable()"),
        ),
        "data-stalls": (
            (
                "ein Speichern, das dem nächsten Warten auf Daten angerechnet wird",
                "mit den Schritten vergleichen, bei denen gespeichert wird",
            ),
            ("ein Netzwerk-Dateisystem", "währenddessen dieselbe Datei mit dd lesen"),
        ),
        "data-chronic": (
            ("eine mitgezählte Kopie auf die GPU", "die Kopie getrennt messen"),
            (
                "zu wenige Kerne für die Worker",
                "num_workers mit den vorhandenen Kernen vergleichen",
            ),
        ),
        "restart": (
            (
                "Daten, die bei der Fortsetzung Batch für Batch übersprungen werden",
                "nach dem Start nach einer solchen Zeile suchen",
            ),
            (
                "eine Warteschlange",
                "die Zeit des Starts mit der des ersten Schritts vergleichen",
            ),
        ),
        "failed-launches": (("absichtlich abgebrochene Versuche", "ihre letzten Zeilen ansehen"),),
        "never-again": (("ein zu früh kopiertes Log", "das Ende der Datei noch einmal ansehen"),),
        "crash-loop": (("absichtlich abgebrochene Läufe", "ihre letzten Zeilen ansehen"),),
        "lost": (("ein anderer Lauf im selben Log", "die ersten Loss-Werte beider vergleichen"),),
        "allocator-flushes": (
            ("andere Arbeit bei denselben Schritten", "die Statistik des Allokators mitschreiben"),
        ),
        "collector-pauses": (
            (
                "der Allokator, der Speicher zurückgibt",
                "wiederholte Allokationsversuche zählen",
            ),
            ("andere Prozesse", "die CPU bei einem solchen Schritt beobachten"),
            ("ein Logger, der schreibt", "seltener loggen: werden es weniger?"),
        ),
        "periodic": (
            (
                "eine Evaluierung oder ein Speichern ohne Ausgabe",
                "mit den eingestellten Intervallen vergleichen",
            ),
            ("eine Datendatei, die endet", "ihre Tokens durch die eines Schritts teilen"),
            ("ein Logger", "sein Intervall ändern: ändert sich der Abstand mit?"),
        ),
        "closing-unknown": (("ein Upload, eine Konvertierung, ein Test", LOG_TIMES),),
        "slow-zone": (
            ("ein anderer Job auf der Maschine", WATCH),
            ("eine GPU, die heruntertaktet", "Takt und Throttle Reasons beobachten"),
            ("längere Beispiele", TOKENS),
        ),
        "slow-steps": (
            ("Garbage Collection", "sie eine Weile abschalten: gc.disable()"),
            ("ein Aussetzer von Speicher oder Netz", "CPU, Platte und Netz beobachten"),
            (
                "ein neuer Shape, der kompiliert wird",
                "den Compiler ausgeben lassen, was er neu kompiliert",
            ),
        ),
        "drift": (
            (
                "ein Speicherleck, das im Swapping endet",
                "Speicher und Swapping beobachten (vmstat)",
            ),
            (
                "ein wachsender Graph oder eine wachsende Liste",
                "neu starten: sind die Schritte wieder schnell?",
            ),
            ("Hitze", "Takt und Temperatur der GPU beobachten"),
            ("absichtlich längere Sequenzen", TOKENS),
        ),
        "slower-since-resume": (
            (
                "eine andere Maschine oder andere Jobs darauf",
                "den Hostnamen ausgeben; CPU und GPU beobachten",
            ),
            (
                "überlaufender GPU-Speicher",
                "den freien GPU-Speicher vorher und nachher vergleichen",
            ),
            ("andere Einstellungen", "die beiden Anfänge im Log vergleichen"),
        ),
        "slower-since": (
            ("ein absichtlich größerer Batch oder längere Sequenzen", TOKENS),
            (
                "ein Compiler, der aufgegeben hat (Limit der Neukompilierungen)",
                "nach seiner Warnung suchen",
            ),
            ("ein anderer Job auf der Maschine", WATCH),
        ),
        "faster-since": (("ein absichtlich kleinerer Batch", TOKENS),),
        "hidden-time": (
            ("Hooks oder Logger zwischen den Schritten", LOG_TIMES),
            (
                "Arbeit, für die der Trainer seine Uhr absichtlich anhält",
                "im Code nachsehen, wo er sie startet",
            ),
        ),
    }
