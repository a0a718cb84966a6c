"""German: what is said when something fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.errors import ErrorWords


class GermanErrors(ErrorWords):
    failures: ClassVar[Mapping[str, str]] = {
        "error": "Fehler: {message}",
        "hint": "Tipp: {hint}",
        "stopped": "Abbruch: {why}",
        "stopped.path": "Abbruch bei `{path}`: {why}",
        "stopped.hint": "`df -h . /tmp` zeigt, ob ein Datenträger voll ist",
        "stopped.path.hint": "`{look}` zeigt, was da ist und wer es lesen und schreiben darf",
        "usage.hint": "`{command} --help` zeigt alle Möglichkeiten",
        "usage.hint.near": "`{nearest}` gemeint? `{command} --help` zeigt alle Möglichkeiten",
        "usage.other": "{text}",
        "usage.no-command": "den Befehl `{name}` gibt es nicht",
        "usage.no-option": "die Option `{name}` gibt es nicht",
        "usage.no-value": "`{name}` braucht einen Wert",
        "usage.flag": "`{name}` nimmt keinen Wert",
        "usage.choice": "`{value}` ist keiner der Werte von {name}: {values}",
        "usage.missing": "`{name}` fehlt",
        "usage.extra": "nach dem Angegebenen wird nichts mehr erwartet: `{values}`",
        "usage.no-log": "kein Log angegeben; nötig ist eine Datei, oder - für eine Pipe",
        "usage.one-pipe": "- kann nur einmal angegeben werden",
        "usage.one-log": "{name} nimmt nur ein Log",
        "usage.exclude": "{one} und {other} schließen sich aus",
        "usage.mtbf": "--mtbf: `{text}` ist kein Abstand zwischen Ausfällen; gemeint ist etwas wie "
        "12h, 3d oder 90min",
        "wrote": "geschrieben: {path}",
        "os": "{text}",
        "os.ENOENT": "Datei oder Verzeichnis nicht gefunden",
        "os.EACCES": "keine Berechtigung",
        "os.EPERM": "Vorgang nicht erlaubt",
        "os.EISDIR": "das ist ein Verzeichnis",
        "os.ENOTDIR": "das ist kein Verzeichnis",
        "os.ENOSPC": "auf dem Datenträger ist kein Platz mehr",
        "os.EDQUOT": "das Speicherkontingent ist erschöpft",
        "os.EROFS": "das Dateisystem ist schreibgeschützt",
        "os.EIO": "Ein-/Ausgabefehler",
        "os.ENAMETOOLONG": "der Dateiname ist zu lang",
        "os.ELOOP": "zu viele symbolische Links hintereinander",
        "os.EMFILE": "zu viele offene Dateien",
        "empty-name": "der Name ist leer",
        "closed-input": "die Standardeingabe ist geschlossen",
        "damaged": "die komprimierten Daten sind abgeschnitten oder beschädigt",
        "no-manifest": "es hat kein Manifest: nicht von instride, oder eine Kopie ohne das "
        "versteckte `.instride`",
        "gone-manifest": "sein Manifest ist verschwunden",
        "other-manifest": "sein Manifest ist nicht mehr das, was geschrieben wurde",
        "other-end": "sein Ende passt zu keinem Manifest, das für diesen Namen geschrieben wurde",
        "other-size": "er hat {size} Bytes statt {written}",
        "other-bytes": "irgendwo in den Bytes {offset} bis {last} ist der Inhalt ein anderer",
        "no-file": "das ist weder eine Datei noch ein Verzeichnis",
        "no-part": "den Teil `{part}` gibt es darin nicht (es gibt {parts})",
        "no-parts": "er hat keine benannten Teile",
        "no-tensors": "darin ist kein Tensor",
        "no-such-kind": "`{name}` ist von einer Art, die safetensors nicht kennt: {kind}",
        "same-name": "zwei Tensoren würden beide `{name}` heißen",
        "unsafe-name": "sie braucht `{name}`",
        "unsafe-form": "torch liest nichts davon, ohne Code auszuführen",
        "no-archive": "torch kann sie nicht lesen: {text}",
        "no-regex": "es ist kein regulärer Ausdruck: {text}",
        "unknown-group": "keine Gruppe heißt `{name}` (mögliche Namen: {names})",
        "near-group": "keine Gruppe heißt `{name}`, vielleicht `{nearest}`? (mögliche Namen: "
        "{names})",
        "no-groups": r"es hat keine benannte Gruppe wie `(?P<step>\d+)`",
        "endless": "durch eine Wiederholung in einer Wiederholung wird es endlos langsam",
        "no-step-group": "keine Gruppe heißt `step`",
        "no-table": "es ist keine Tabelle",
        "no-texts": "es ist keine Liste von Texten",
        "no-setting": "eine solche Einstellung gibt es nicht",
        "near-setting": "eine solche Einstellung gibt es nicht, vielleicht `{nearest}`?",
        "dialects": "{count} Formate geprüft, dann geraten",
        "lines": "gesucht: {title}",
        "zero-times": "alle Zeiten sind null",
        "short-total": "seine Gesamtzeit ({total_s}) ist kürzer als die seiner Evaluierungen "
        "({evals_s}): sie gilt nur für den letzten Prozess",
        "no-times": "keine Zeit eines Schritts war zu lesen",
        "only-evals": "keine Zeit eines Schritts war zu lesen; Evaluierungen dauerten {evals_s}",
        "UnknownDialectError.message": "kein Format heißt `{name}`",
        "UnknownDialectError.hint": "`instride explain --dialects` listet alle auf",
        "UnknownDialectError.hint.near": "`--dialect {nearest}` gemeint? `instride explain "
        "--dialects` listet alle auf",
        "BadPatternError.message": "das Muster `{pattern}` ist nicht zu gebrauchen: {why}",
        "BadPatternError.hint": r"Gruppen benennen, wie in --pattern 'step (?P<step>\d+) .* "
        r"(?P<ms>[\d.]+) ?ms'",
        "UnknownRuleError.message": "keine Regel heißt `{name}`",
        "UnknownRuleError.message.where": "keine Regel heißt `{name}` ({where})",
        "UnknownRuleError.hint": "`instride doctor --rules` listet alle auf",
        "UnknownRuleError.hint.near": "`{nearest}` gemeint? `instride doctor --rules` listet alle "
        "auf",
        "BadSettingError.message": "`{setting}` in pyproject.toml ist nicht zu gebrauchen: {why}",
        "BadSettingError.hint": 'geschrieben wird es als `ignore = ["save-in-place"]` und '
        '`exclude = ["vendor/*"]`',
        "UnreadableLogError.message": "`{path}` ist nicht zu lesen: {why}",
        "UnreadableLogError.hint": "`ls -l` zeigt, was da ist",
        "EmptyLogError.message": "`{path}` ist leer",
        "EmptyLogError.hint": "falls das Training noch läuft, hält Python die Ausgabe vielleicht "
        "zurück: mit `PYTHONUNBUFFERED=1` starten",
        "BinaryLogError.message": "`{path}` ist keine Textdatei",
        "BinaryLogError.hint": "explain liest, was das Training ausgibt: umleiten mit "
        "`python train.py 2>&1 | tee train.log`",
        "NoStepsError.message": "keine Trainingsschritte in `{path}` gefunden ({looked_for})",
        "NoStepsError.hint": r"angeben, wie ein Schritt aussieht: --pattern 'step (?P<step>\d+) .* "
        r"(?P<ms>[\d.]+) ?ms', oder siehe `instride explain --dialects`",
        "NoTimesError.message": "`{path}` hat {num_steps} Schritte, aber {what}",
        "NoTimesError.message.one": "`{path}` hat 1 Schritt, aber {what}",
        "NoTimesError.hint": "den Zeilen des nächsten Laufs Zeiten voranstellen: `python train.py "
        "2>&1 | ts '%Y-%m-%dT%H:%M:%.S' | tee train.log`",
        "NoLogsError.message": "kein Trainingslog unter den {num_files} Dateien in `{path}`",
        "NoLogsError.message.one": "die einzige Datei in `{path}` ist kein Trainingslog",
        "NoLogsError.message.none": "in `{path}` ist keine Datei",
        "NoLogsError.hint": "das Log selbst angeben: `instride explain path/to/train.log`",
        "UnwritableError.message": "`{path}` ist nicht zu schreiben: {why}",
        "UnwritableError.hint": "`mkdir -p {folder}` legt das Verzeichnis an",
        "UnwritableError.hint.there": "`df -h {folder}` und `ls -ld "
        "{folder}` zeigen den Platz und die Rechte",
        "UnwritableError.hint.directory": "eine Datei darin angeben; `ls -l "
        "{folder}` zeigt, welche es gibt",
        "NoRepositoryError.message": "`{path}` ist nicht zu untersuchen: {why}",
        "NoRepositoryError.hint": "das Verzeichnis des Trainingscodes angeben, wie in "
        "`instride doctor .`",
        "DamagedError.message": "der Checkpoint `{path}` ist beschädigt: {why}",
        "DamagedError.hint": "`instride list {folder}` zeigt, welche anderen es gibt",
        "StoreInUseError.message": "`{directory}` gehört dem Training mit der PID {pid} auf "
        "{host}, das noch läuft",
        "StoreInUseError.hint": "diesem Training ein eigenes Verzeichnis geben oder das andere "
        "beenden: `kill {pid}`",
        "SaveFailedError.message": "der Checkpoint `{path}` wurde nicht gespeichert: {why}",
        "SaveFailedError.message.store": "jetzt kann nichts gespeichert werden: {why}",
        "SaveFailedError.hint": "`df -h {folder}` und `ls -ld {folder}` zeigen den Platz und die "
        "Rechte",
        "SaveFailedError.hint.store": "`ls -ld {folder} {quoted}` und `df -h {folder}` zeigen die "
        "Rechte und die Platte",
        "SaveFailedError.hint.taken": "sie wurde gelassen, wie sie ist; ihr einen anderen Namen "
        "geben: `mv -n {quoted} {quoted}.other`",
        "SaveFailedError.hint.folder": "eine Datei darin angeben, wie `{quoted}/model.pt`",
        "SaveFailedError.hint.forked": "in dem Prozess speichern, der den `Saver` gemacht "
        "hat, oder hier einen eigenen machen",
        "SaveFailedError.hint.closed": "`saver.save(step)` vor `saver.close()` aufrufen",
        "SaveFailedError.hint.limits": "`free -m` zeigt den Speicher; `ulimit -a` und `sysctl "
        "vm.max_map_count` zeigen die Grenzen eines Prozesses",
        "SaveFailedError.hint.state": "`torch.save` mit demselben Zustand zeigt, ob er sich "
        "überhaupt speichern lässt: weglassen, was nicht geht, oder Zahlen, Zeichenketten und "
        "Tensoren daraus machen",
        "SaveFailedError.hint.changed": "vor `saver.save(step)` in Parameter schreiben, oder nach "
        "dem nächsten `optimizer.step()`",
        "NoCheckpointError.message": "kein vollständiger Checkpoint in `{directory}`",
        "NoCheckpointError.message.step": "kein vollständiger Checkpoint von Schritt {step} in "
        "`{directory}`",
        "NoCheckpointError.hint": "`instride verify {quoted}` sagt, was den vorhandenen fehlt",
        "UnsafeStateError.message": "`torch.load(weights_only=True)` würde diesen Zustand "
        "ablehnen, wegen {names}",
        "UnsafeStateError.hint": "stattdessen Zahlen, Zeichenketten und Tensoren speichern, oder "
        "`strict=True` weglassen",
        "StorageStuckError.message": "seit {seconds} wurde nichts in `{path}` geschrieben: der "
        "Datenträger antwortet nicht",
        "StorageStuckError.hint": "sobald er wieder antwortet, geht es von selbst weiter: "
        "`instride list {folder}`",
        "StateTooLargeError.message": "ein Schnappschuss von {wanted}\u00a0MB passt nicht in die "
        "{room}\u00a0MB, die benutzt werden dürfen",
        "StateTooLargeError.hint": "`free -m` zeigt den Speicher; `Saver(memory_bytes=...)` setzt "
        "die Grenze",
        "MismatchError.message": "`{path}` passt nicht: {why}",
        "MismatchError.hint": "`saver.restore(strict=False)` nimmt, was passt, und sagt, was es "
        "weggelassen hat",
        "MismatchError.hint.inside": "`Saver` das Modell darin geben: `{part}={part}.{wrapper}`; "
        "so gespeichert, passt ein Checkpoint zu jedem Lauf",
        "MismatchError.hint.wrapped": "`Saver` das Modell unter diesem Namen geben: "
        "`{part}=torch.nn.ModuleDict({{'{wrapper}': {part}}})`",
        "UnsafeCheckpointError.message": "`{path}` enthält Werte, die beim Lesen Code ausführen "
        "könnten: {why}",
        "UnsafeCheckpointError.hint": "wenn die Datei von Ihnen selbst stammt: "
        "`restore(weights_only=False)`",
        "SaveSkippedError.message": "`{path}` wurde ausgelassen: der Schnappschuss davor wird noch "
        "geschrieben",
        "SaveSkippedError.hint": "seltener speichern, oder mit `Saver(when_busy='wait')` darauf "
        "warten",
        "SaveSkippedError.message.full": "`{path}` wurde ausgelassen: der Datenträger ist "
        "voll, und der Schnappschuss davor wartet auf Platz",
        "SaveSkippedError.hint.full": "`df -h {folder}` zeigt den Platz; jener wird "
        "gespeichert, sobald welcher da ist",
        "NoCheckpointError.message.foreign": "`{directory}` hat kein Manifest zum Vergleichen: "
        "nicht von instride, oder eine Kopie ohne das versteckte `.instride`",
        "NoCheckpointError.hint.list": "`instride list {quoted}` zeigt, was da ist",
        "NoCheckpointError.hint.foreign": "`unzip -t {quoted}` vergleicht sie mit ihren eigenen "
        "Prüfsummen, falls sie welche hat",
        "StoreInUseError.hint.prune": "es räumt selbst auf, wie sein `keep=` es sagt; was "
        "dieser Befehl löschen würde, zeigt derselbe mit `--dry-run`",
        "UnsafeCheckpointError.hint.export": "wenn die Datei von Ihnen selbst stammt: "
        "`{python}` in Python, wo ihre Klassen bekannt sind, danach `{command}`",
        "NoStoreError.message": "`{path}` ist nicht anzusehen: {why}",
        "NoStoreError.hint": "das Verzeichnis angeben, das `Saver` bekommen hat, oder einen "
        "Checkpoint: `{look}`",
        "NoStoreError.hint.closed": "`{look}` zeigt, wem es gehört und wer es lesen darf",
        "NoStoreError.hint.away": "`{look}` zeigt, wohin er führt: das zurückbringen, oder den "
        "Link löschen, um ohne ihn weiterzumachen",
        "NoStoreError.hint.checkpoint": "einen Checkpoint darin angeben: `{command}`",
        "NoStoreError.hint.directory": "das Verzeichnis angeben, in dem er liegt: "
        "`instride list {folder}`",
        "NoStoreError.hint.list": "`instride list {quoted}` zeigt, was da ist",
        "MissingLibraryError.message": "`instride {verb}` braucht `{name}`, das nicht installiert "
        "ist",
        "MissingLibraryError.hint": "`python -m pip install 'instride[{extra}]'` installiert es",
        "NotExportableError.message": "`{path}` ist nicht zu exportieren: {why}",
        "NotExportableError.hint": "`--part` nennt, was exportiert wird, wie in `--part model`",
        "NotExportableError.hint.file": "`unzip -l {quoted}` zeigt, was die Datei enthält, falls "
        "sie von torch ist",
        "NeedsLinuxError.message": "`instride agent` braucht Linux; hier ist `{system}`",
        "NeedsLinuxError.hint": "`instride pack` und `instride prune` tun dasselbe von Hand",
        "BenchFailedError.message": "der Benchmark lief nicht: {why}",
        "BenchFailedError.message.device": "torch findet hier kein Gerät `{why}`",
        "BenchFailedError.hint": "weniger Parameter brauchen weniger Speicher und Platz: "
        "`--params 1000000`",
        "BenchFailedError.hint.device": "`--device cpu` misst ohne GPU, was Speichern kostet",
        "CannotResumeError.message": "`{path}` wurde unter anderen Bedingungen gemessen: "
        "{theirs} statt {ours}",
        "CannotResumeError.message.foreign": "`{path}` enthält keine Messungen von "
        "`instride bench save`",
        "CannotResumeError.message.busy": "ein anderes `instride bench save` setzt `{path}` gerade "
        "fort",
        "CannotResumeError.hint": "`--resume {fresh}` beginnt von vorn, in einer eigenen Datei",
        "CannotResumeError.hint.busy": "auf sein Ende warten, zwei zugleich bremsen einander; "
        "`pgrep -af 'bench save'` zeigt es",
        "OverwriteError.message": "`{path}` gibt es schon",
        "OverwriteError.hint": "`--force` ersetzt die Datei",
        "no-pack": "es ist kein Pack",
        "is-pack": "es ist schon ein Pack",
        "is-packed": "es wurde schon gepackt und ist jetzt `{pack}`",
        "pack-cut": "das Ende fehlt: abgeschnitten oder nie fertig geworden",
        "pack-version": "es hat Version {version}, die dieses instride nicht kennt",
        "pack-index": "der Index ist nicht mehr, wie er geschrieben wurde",
        "no-base": "die Basis `{base}` ist nicht da",
        "other-base": "die Basis `{base}` ist nicht die, gegen die gepackt wurde",
        "base-no-pack": "die Basis `{base}` ist kein Pack",
        "base-elsewhere": "die Basis `{base}` liegt in einem anderen Verzeichnis",
        "base-of-store": "die Basis `{base}` gehört einem Training, das sie löschen darf; "
        "diese Datei nicht",
        "base-delta": "die Basis `{base}` hat selbst eine Basis",
        "changed": "es hat sich unterdessen geändert",
        "usage.one-pack": "{name} gilt für ein einziges Pack",
        "PackError.message": "`{path}` ist nicht zu packen: {why}",
        "PackError.message.unpack": "`{path}` ist nicht zu entpacken: {why}",
        "PackError.hint": "`{look}` zeigt, was da ist",
        "PackError.hint.packed": "`instride unpack {pack}` stellt die Datei wieder her",
        "PackError.hint.base": "eine Basis ist ein vollständiges Pack im selben Verzeichnis: "
        "`instride pack {quoted}` macht eines",
        "PackError.hint.unpack": "`instride list {folder}` zeigt, welche Packs es gibt",
        "PackError.hint.directory": "die Dateien darin angeben: `instride pack {quoted}/{pattern}`",
        "PackError.hint.unpack.directory": "die Packs darin angeben: "
        "`instride unpack {quoted}/*.pack`",
        "no-frames": "weder zstd noch lz4 hat sie komprimiert",
        "no-seek-table": "am Ende fehlt die Sprungtabelle: abgeschnitten, oder nicht von instride",
        "seek-table": "die Sprungtabelle passt nicht zur Datei",
        "want-flag": "es muss true oder false sein",
        "want-text": "es muss ein Text sein",
        "want-pattern": 'es muss ein Muster für Dateinamen sein, wie in "step_*.pt"',
        "want-count": "es muss eine ganze Zahl ab 1 sein; weggelassen bleibt alles erhalten",
        "want-whole": "es muss eine ganze Zahl von {low} bis {high} sein",
        "want-share": "es muss ein Anteil zwischen 0 und 1 sein, wie in 0.02",
        "want-seconds": "es muss eine Anzahl von Sekunden sein",
        "want-choice": "es muss eines von {names} sein",
        "no-level": "ein Pack hat keine Stufe",
        "no-text": "es ist kein Text in UTF-8",
        "usage.no-directory": "kein Verzeichnis angegeben; nötig ist eines, oder ein --config mit "
        "[watcher] path",
        "BadConfigError.message": "`{setting}` in `{path}`, Zeile {line}, ist nicht zu gebrauchen: "
        "{why}",
        "BadConfigError.message.file": "`{path}` ist nicht zu gebrauchen: {why}",
        "BadConfigError.hint": "die Abschnitte sind `[watcher]` path, pattern, interval; "
        "`[cleanup]` "
        "keep_latest; `[compression]` enabled, level, format, remove_original; `[governor]` "
        "budget, "
        "mode, deadline, log",
        "NoAgentError.message": "in `{path}` war noch kein Agent",
        "NoAgentError.hint": "`instride agent {quoted}` startet einen",
        "StoreInUseError.message.here": "`{directory}` gehört einem anderen Saver dieses "
        "Prozesses ({pid})",
        "StoreInUseError.hint.here": "zuerst `close()` des anderen Savers aufrufen oder diesem ein "
        "eigenes Verzeichnis geben",
        "SaveSkippedError.message.inside": "`{path}` wurde ausgelassen: ein Signalhandler wollte "
        "speichern, während schon gespeichert wurde",
        "SaveSkippedError.hint.inside": "die Schleife speichern lassen: `saver.due(step)` hört "
        "SIGTERM und SIGUSR1",
        "StoreInUseError.message.agent": "`{directory}` gehört dem Agenten mit der PID {pid} auf "
        "{host}, der noch läuft",
        "StoreInUseError.hint.agent": "sein `Saver` räumt selbst auf, wie sein `keep=` es sagt; "
        "der "
        "Agent kann das Verzeichnis übernehmen, wenn das Training vorbei ist",
        "StoreInUseError.hint.second-agent": "`instride agent status {quoted}` zeigt, was er tut; "
        "`kill {pid}` beendet ihn",
    }
