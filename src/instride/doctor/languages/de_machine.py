"""German: the machine."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "little-space": Saying(
        title="Wenig Platz für Checkpoints",
        sentence="In `{path}` sind noch {free} frei: Platz für {checkpoints:weiteren Checkpoint"
        "|weitere Checkpoints} von {size}.",
        fix="Platz schaffen oder auf eine Platte speichern, die ihn hat.",
    ),
    "disk-nearly-full": Saying(
        title="Die Platte für Checkpoints ist fast voll",
        sentence="In `{path}` sind noch {free} frei.",
        fix="Platz schaffen oder auf eine Platte speichern, die ihn hat.",
    ),
    "few-inodes": Saying(
        title="Das Dateisystem nimmt nur noch wenige Dateien auf",
        sentence="In `{path}` passen noch {files:Datei|Dateien}, egal wie viel Platz frei ist.",
        fix="Die Verzeichnisse mit den meisten Dateien suchen und packen oder löschen, was nicht"
        " gebraucht wird.",
    ),
    "quota-near": Saying(
        title="Ein Speicherkontingent ist fast erschöpft",
        sentence="Das Kontingent lässt auf der Platte von `{path}` noch {left} von {limit} zu.",
        fix="Platz schaffen oder ein größeres Kontingent beantragen.",
    ),
    "checkpoints-not-writable": Saying(
        title="Wo Checkpoints hinsollen, lässt sich nichts schreiben",
        sentence="In `{path}` kann nicht geschrieben werden: {error}.",
        fix="Die Berechtigungen ändern oder ein anderes Verzeichnis angeben.",
    ),
    "volatile-checkpoints": Saying(
        title="Checkpoints liegen nur im Arbeitsspeicher",
        sentence="`{path}` liegt im Arbeitsspeicher ({filesystem}): Nach einem Neustart der"
        " Maschine sind die Checkpoints weg, und bis dahin belegen sie Speicher.",
        fix="Checkpoints auf eine Platte speichern und danach in den Arbeitsspeicher kopieren,"
        " falls sie oft gelesen werden.",
    ),
    "container-checkpoints": Saying(
        title="Checkpoints verschwinden mit dem Container",
        sentence="`{path}` liegt in der Schicht des Containers ({filesystem}): Wird er entfernt,"
        " sind die Checkpoints weg.",
        fix="Dort ein Volume oder ein Verzeichnis des Hosts einhängen.",
    ),
    "faster-disk-nearby": Saying(
        title="Eine viel schnellere Platte ist vorhanden",
        sentence="`{path}` ({filesystem}) schafft {speed}, `{other}` {other_speed}, {times} so"
        " viel: {size} sind in {other_seconds} gespeichert statt in {seconds}.",
        fix="Auf die schnellere Platte speichern und von dort kopieren.",
    ),
    "slow-checkpoint-disk": Saying(
        title="Die Platte für Checkpoints ist langsam",
        sentence="`{path}` ({filesystem}) schafft {speed}, wenn das Geschriebene auch ankommen"
        " soll: {size} brauchen {seconds}.",
        fix="Eine schnellere Platte suchen, seltener speichern oder nicht die Trainingsschleife"
        " selbst schreiben lassen.",
    ),
    "remote-checkpoint-disk": Saying(
        title="Checkpoints verlassen diese Maschine",
        sentence="`{path}` liegt nicht auf einer Platte dieses Systems ({filesystem}).",
        fix="Auf eine lokale Platte speichern und die fertige Datei von etwas anderem kopieren"
        " lassen.",
    ),
    "swapping-now": Saying(
        title="Speicher wird ausgelagert",
        sentence="Zwischen Arbeitsspeicher und Swap laufen gerade {speed}.",
        fix="Nachsehen, wer den Speicher belegt, und beenden oder begrenzen, was nicht gebraucht"
        " wird.",
    ),
    "memory-short": Saying(
        title="Programme warten auf Speicher",
        sentence="In {share} der letzten Minute haben Programme auf Speicher gewartet.",
        fix="Nachsehen, wer den Speicher belegt, und beenden oder begrenzen, was nicht gebraucht"
        " wird.",
    ),
    "snapshot-does-not-fit": Saying(
        title="Für die Kopie eines Checkpoints reicht der Speicher nicht",
        sentence="Ein Checkpoint hat {size}, verfügbar sind {available}: Speichern im Hintergrund"
        " hat keinen Platz für seine Kopie.",
        fix="Die Grenze anheben oder Speicher frei machen; bis dahin im Vordergrund speichern.",
    ),
    "small-shm": Saying(
        title="Wenig gemeinsamer Speicher",
        sentence="/dev/shm fasst nur {size}: Darüber geben Loader-Prozesse ihre Batches weiter.",
        fix="Den Container mit mehr starten oder /dev/shm größer einhängen.",
    ),
    "swap-in-use": Saying(
        title="Viel Swap ist belegt",
        sentence="{used} von {total} Swap sind belegt.",
        fix="Nachsehen, was ausgelagert wurde.",
    ),
    "dirty-limits": Saying(
        title="Viel Ungeschriebenes kann sich anstauen",
        sentence="Bis zu {limit} dürfen im Speicher darauf warten, nach `{path}` geschrieben zu"
        " werden, das {speed} schafft: {seconds} Schreiben am Stück.",
        fix="Den Kernel früher mit dem Schreiben beginnen lassen.",
    ),
    "rival-process": Saying(
        title="Andere Programme arbeiten",
        sentence="Gerade gehen {share} der Prozessoren an {names}.",
        fix="Ihnen eine niedrigere Priorität geben oder die Arbeit nach dem Training erledigen.",
    ),
    "rival-reads-checkpoints": Saying(
        title="Etwas anderes hat Checkpoints geöffnet",
        sentence="`{file}` ist in {names} geöffnet, während das Training vielleicht speichert.",
        fix="Eine niedrigere Priorität geben oder erst nach dem Training beginnen lassen.",
    ),
    "priority-does-nothing": Saying(
        title="Eine niedrige Priorität, die nichts bewirkt",
        sentence="Die niedrige Priorität ({priority}) von {names} zählt gegenüber dem Training"
        " nicht: Eine eigene Scheduling-Gruppe konkurriert gleichberechtigt.",
        fix="Die Priorität der Gruppe senken, nicht die des Prozesses.",
    ),
    "ionice-does-nothing": Saying(
        title="Eine Leerlauf-Priorität für die Platte, die nichts bewirkt",
        sentence="{names} will die Platte nur nutzen, wenn sie frei ist; der Scheduler"
        " `{scheduler}` von {disk} kennt das nicht.",
        fix="Einen Scheduler wählen, der Prioritäten kennt, oder die Rate des Programms selbst"
        " begrenzen.",
    ),
    "gpu-throttled": Saying(
        title="Die GPU wird gebremst",
        sentence="{gpu} läuft unter ihrem Takt: {reason}.",
        fix="Kühlung und Stromversorgung prüfen oder die Grenze anheben.",
    ),
    "gpu-shared": Saying(
        title="Die GPU hat andere Gäste",
        sentence="{processes:anderer Prozess rechnet|andere Prozesse rechnen} auf {gpu}.",
        fix="Nachsehen, wem sie gehören.",
    ),
    "gpu-link-narrow": Saying(
        title="Die GPU ist mit weniger Lanes angebunden",
        sentence="{gpu} ist mit {lanes:PCIe-Lane|PCIe-Lanes} angebunden, möglich wären {possible}.",
        fix="Neu einstecken oder einen Steckplatz mit allen Lanes nehmen; bis dahin lässt sich die"
        " Anbindung hier ablesen.",
    ),
    "gpu-memory-full": Saying(
        title="Der GPU-Speicher ist fast belegt",
        sentence="Auf {gpu} sind {free} von {total} frei.",
        fix="Nachsehen, wer ihn belegt; halb beendete Prozesse müssen vielleicht abgebrochen"
        " werden.",
    ),
}
UNKNOWNS: dict[str, str] = {
    "silent-filesystem": "Das Dateisystem von `{path}` hat nicht rechtzeitig geantwortet;"
    " vielleicht ist ein Dateiserver weg.",
    "unreadable-path": "`{path}` war nicht anzusehen: {error}.",
    "unknown-filesystem": "Dieses System sagt nicht, auf welchem Dateisystem `{path}` liegt.",
    "checkpoint-size": "Wie viele Checkpoints noch passen und ob der Speicher für eine Kopie"
    " reicht: In `{path}` liegt noch keiner, der die Größe zeigt.",
    "not-measured": "Wie schnell `{path}` ist: Für eine Probe ist zu wenig Platz frei.",
    "quota": "Ob für `{path}` ({filesystem}) ein Kontingent gilt: Das weiß nur der Server;"
    " `quota -s` fragt ihn.",
    "hidden-processes": "Was {processes:beschäftigter Prozess liest und schreibt"
    "|beschäftigte Prozesse lesen und schreiben}: Dafür fehlen hier die Rechte.",
    "hidden-from-root": "Was {processes:beschäftigter Prozess liest und schreibt"
    "|beschäftigte Prozesse lesen und schreiben}: Das erfährt hier auch root nicht.",
    "open-files": "Welche Programme Checkpoints geöffnet haben: Danach wird nur unter Linux"
    " gesehen.",
    "swapping": "Ob gerade Speicher ausgelagert wird: Danach wird nur unter Linux gesehen.",
    "pressure": "Ob Programme auf Speicher warten: Dieser Kernel zählt es nicht (kein"
    " /proc/pressure).",
    "gpu-library": "Wie es der GPU geht: `pip install 'instride[gpu]'` bringt die Bibliothek mit,"
    " die den Treiber fragt.",
    "silent-gpu": "Wie es der GPU geht: Ihr Treiber hat nicht rechtzeitig geantwortet.",
}
