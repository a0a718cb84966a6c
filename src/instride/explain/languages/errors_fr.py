"""French: what is said when something fails.

No-break spaces are written out, narrow ones before `;` and `?`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.errors import ErrorWords


class FrenchErrors(ErrorWords):
    failures: ClassVar[Mapping[str, str]] = {
        "error": "erreur\u00a0: {message}",
        "hint": "conseil\u00a0: {hint}",
        "stopped": "impossible de continuer\u00a0: {why}",
        "stopped.path": "impossible de continuer avec `{path}`\u00a0: {why}",
        "stopped.hint": "`df -h . /tmp` montre si un disque est plein",
        "stopped.path.hint": "`{look}` montre ce qu'il y a, et qui peut le lire et l'écrire",
        "usage.hint": "`{command} --help` montre tout ce qui est possible",
        "usage.hint.near": "vouliez-vous dire `{nearest}`\u202f? `{command} --help` montre tout ce "
        "qui est possible",
        "usage.other": "{text}",
        "usage.no-command": "il n'y a pas de commande `{name}`",
        "usage.no-option": "il n'y a pas d'option `{name}`",
        "usage.no-value": "`{name}` demande une valeur",
        "usage.flag": "`{name}` ne prend pas de valeur",
        "usage.choice": "`{value}` n'est pas une des valeurs de {name}\u00a0: {values}",
        "usage.missing": "il manque `{name}`",
        "usage.extra": "rien d'autre n'est attendu après ce qui a été donné\u00a0: `{values}`",
        "usage.no-log": "aucun journal indiqué\u202f; donnez un fichier, ou - pour un tube",
        "usage.one-pipe": "- ne peut être donné qu'une fois",
        "usage.one-log": "{name} ne prend qu'un journal",
        "usage.exclude": "{one} et {other} s'excluent",
        "usage.mtbf": "--mtbf\u00a0: `{text}` n'est pas un intervalle entre pannes\u202f; écrivez "
        "par exemple 12h, 3d ou 90min",
        "wrote": "écrit\u00a0: {path}",
        "os": "{text}",
        "os.ENOENT": "fichier ou dossier introuvable",
        "os.EACCES": "permission refusée",
        "os.EPERM": "opération non permise",
        "os.EISDIR": "c'est un dossier",
        "os.ENOTDIR": "ce n'est pas un dossier",
        "os.ENOSPC": "il n'y a plus de place sur le disque",
        "os.EDQUOT": "le quota de disque est dépassé",
        "os.EROFS": "le système de fichiers est en lecture seule",
        "os.EIO": "erreur d'entrée-sortie",
        "os.ENAMETOOLONG": "le nom de fichier est trop long",
        "os.ELOOP": "trop de liens symboliques à la suite",
        "os.EMFILE": "trop de fichiers ouverts",
        "empty-name": "le nom est vide",
        "closed-input": "l'entrée standard est fermée",
        "damaged": "les données compressées sont tronquées ou endommagées",
        "no-manifest": "il n'a pas de manifeste\u00a0: il n'est pas d'instride, ou a été copié "
        "sans le dossier caché `.instride`",
        "gone-manifest": "son manifeste a disparu",
        "other-manifest": "son manifeste n'est plus celui qui a été écrit",
        "other-end": "sa fin ne correspond à aucun manifeste écrit pour ce nom",
        "other-size": "il fait {size}\u00a0octets au lieu de {written}",
        "other-bytes": "le contenu diffère quelque part entre les octets {offset} et {last}",
        "no-file": "ce n'est ni un fichier ni un répertoire",
        "no-part": "il n'a pas de partie `{part}` (il y a {parts})",
        "no-parts": "il n'a pas de parties nommées",
        "no-tensors": "il ne contient aucun tenseur",
        "no-such-kind": "`{name}` est d'un type que safetensors ne connaît pas\u00a0: {kind}",
        "same-name": "deux tenseurs s'appelleraient tous deux `{name}`",
        "unsafe-name": "il lui faut `{name}`",
        "unsafe-form": "torch n'en lit rien sans exécuter de code",
        "no-archive": "torch ne peut pas le lire\u00a0: {text}",
        "no-regex": "ce n'est pas une expression régulière\u00a0: {text}",
        "unknown-group": "aucun groupe ne s'appelle `{name}` (noms possibles\u00a0: {names})",
        "near-group": "aucun groupe ne s'appelle `{name}`, vouliez-vous dire `{nearest}`\u202f? "
        "(noms possibles\u00a0: {names})",
        "no-groups": "il n'a pas de groupe nommé, comme `(?P<step>\\d+)`",
        "endless": "une répétition dans une répétition le rend interminable",
        "no-step-group": "aucun groupe ne s'appelle `step`",
        "no-table": "ce n'est pas une table",
        "no-texts": "ce n'est pas une liste de textes",
        "no-setting": "ce réglage n'existe pas",
        "near-setting": "ce réglage n'existe pas, peut-être `{nearest}`\u202f?",
        "dialects": "{count} formats essayés, puis une supposition",
        "lines": "recherché\u00a0: {title}",
        "zero-times": "toutes leurs durées sont nulles",
        "short-total": "sa durée totale ({total_s}) est inférieure à celle de ses évaluations "
        "({evals_s})\u00a0: elle ne vaut que pour le dernier processus",
        "no-times": "aucune durée d'étape n'a pu être lue",
        "only-evals": "aucune durée d'étape n'a pu être lue\u202f; les évaluations ont pris "
        "{evals_s}",
        "UnknownDialectError.message": "aucun format ne s'appelle `{name}`",
        "UnknownDialectError.hint": "`instride explain --dialects` les liste tous",
        "UnknownDialectError.hint.near": "vouliez-vous dire `--dialect {nearest}`\u202f? `instride "
        "explain --dialects` les liste tous",
        "BadPatternError.message": "le motif `{pattern}` est inutilisable\u00a0: {why}",
        "BadPatternError.hint": "nommez les groupes, comme dans --pattern 'step (?P<step>\\d+) .* "
        "(?P<ms>[\\d.]+) ?ms'",
        "UnknownRuleError.message": "aucune règle ne s'appelle `{name}`",
        "UnknownRuleError.message.where": "aucune règle ne s'appelle `{name}` ({where})",
        "UnknownRuleError.hint": "`instride doctor --rules` les liste toutes",
        "UnknownRuleError.hint.near": "vouliez-vous dire `{nearest}`\u202f? `instride doctor "
        "--rules` les liste toutes",
        "BadSettingError.message": "`{setting}` dans pyproject.toml est inutilisable\u00a0: {why}",
        "BadSettingError.hint": 'cela s\'écrit `ignore = ["save-in-place"]` et '
        '`exclude = ["vendor/*"]`',
        "UnreadableLogError.message": "impossible de lire `{path}`\u00a0: {why}",
        "UnreadableLogError.hint": "`ls -l` montre ce qu'il y a",
        "EmptyLogError.message": "`{path}` est vide",
        "EmptyLogError.hint": "si l'entraînement tourne encore, Python retient peut-être sa "
        "sortie\u00a0: lancez-le avec `PYTHONUNBUFFERED=1`",
        "BinaryLogError.message": "`{path}` n'est pas un fichier texte",
        "BinaryLogError.hint": "explain lit ce que l'entraînement affiche\u00a0: redirigez-le avec "
        "`python train.py 2>&1 | tee train.log`",
        "NoStepsError.message": "aucune étape d'entraînement dans `{path}` ({looked_for})",
        "NoStepsError.hint": "indiquez à quoi ressemble une étape\u00a0: --pattern 'step "
        "(?P<step>\\d+) .* (?P<ms>[\\d.]+) ?ms', ou voyez `instride explain --dialects`",
        "NoTimesError.message": "`{path}` a {num_steps} étapes, mais {what}",
        "NoTimesError.message.one": "`{path}` a 1 étape, mais {what}",
        "NoTimesError.hint": "horodatez les lignes du prochain entraînement\u00a0: `python "
        "train.py 2>&1 | ts '%Y-%m-%dT%H:%M:%.S' | tee train.log`",
        "NoLogsError.message": "aucun journal d'entraînement parmi les {num_files} fichiers de "
        "`{path}`",
        "NoLogsError.message.one": "le seul fichier de `{path}` n'est pas un journal "
        "d'entraînement",
        "NoLogsError.message.none": "il n'y a aucun fichier dans `{path}`",
        "NoLogsError.hint": "indiquez le journal lui-même\u00a0: `instride explain "
        "path/to/train.log`",
        "UnwritableError.message": "impossible d'écrire `{path}`\u00a0: {why}",
        "UnwritableError.hint": "`mkdir -p {folder}` crée le dossier",
        "UnwritableError.hint.there": "`df -h {folder}` et `ls -ld "
        "{folder}` montrent la place et les droits",
        "UnwritableError.hint.directory": "indiquez un fichier dans ce dossier\u00a0; `ls -l "
        "{folder}` montre ceux qui existent",
        "NoRepositoryError.message": "impossible d'examiner `{path}`\u00a0: {why}",
        "NoRepositoryError.hint": "indiquez le dossier du code d'entraînement, comme dans "
        "`instride doctor .`",
        "DamagedError.message": "le checkpoint `{path}` est endommagé\u00a0: {why}",
        "DamagedError.hint": "`instride list {folder}` montre ceux qui restent",
        "StoreInUseError.message": "`{directory}` appartient à l'entraînement de PID {pid} sur "
        "{host}, qui tourne encore",
        "StoreInUseError.hint": "donnez à cet entraînement un dossier à lui, ou arrêtez "
        "l'autre\u00a0: `kill {pid}`",
        "SaveFailedError.message": "le checkpoint `{path}` n'a pas été sauvegardé\u00a0: {why}",
        "SaveFailedError.message.store": "rien ne peut être sauvegardé pour l'instant\u00a0: {why}",
        "SaveFailedError.hint": "`df -h {folder}` et `ls -ld {folder}` montrent la place et les "
        "droits",
        "SaveFailedError.hint.store": "`ls -ld {folder} {quoted}` et `df -h {folder}` montrent "
        "les droits et le disque",
        "SaveFailedError.hint.taken": "il a été laissé tel quel\u00a0; donnez-lui un autre "
        "nom\u00a0: `mv -n {quoted} {quoted}.other`",
        "SaveFailedError.hint.folder": "indiquez un fichier dans ce dossier, comme "
        "`{quoted}/model.pt`",
        "SaveFailedError.hint.forked": "sauvegardez dans le processus qui a créé le `Saver`, "
        "ou créez-en un ici",
        "SaveFailedError.hint.closed": "appelez `saver.save(step)` avant `saver.close()`",
        "SaveFailedError.hint.limits": "`free -m` montre la mémoire\u00a0; `ulimit -a` et `sysctl "
        "vm.max_map_count` montrent les limites d'un processus",
        "SaveFailedError.hint.state": "`torch.save` avec le même état montre s'il peut être "
        "sauvegardé\u00a0: retirez ce qui ne peut pas l'être, ou faites-en des nombres, des "
        "chaînes et des tenseurs",
        "SaveFailedError.hint.changed": "écrivez dans les paramètres avant `saver.save(step)`, ou "
        "après le `optimizer.step()` qui suit",
        "NoCheckpointError.message": "aucun checkpoint complet dans `{directory}`",
        "NoCheckpointError.message.step": "aucun checkpoint complet de l'étape {step} dans "
        "`{directory}`",
        "NoCheckpointError.hint": "`instride verify {quoted}` dit ce qui ne va pas dans ceux qui "
        "sont là",
        "UnsafeStateError.message": "`torch.load(weights_only=True)` refuserait cet état à cause "
        "de {names}",
        "UnsafeStateError.hint": "sauvegardez plutôt des nombres, des chaînes et des tenseurs, ou "
        "enlevez `strict=True`",
        "StorageStuckError.message": "rien n'a été écrit dans `{path}` depuis {seconds}\u00a0: le "
        "disque ne répond pas",
        "StorageStuckError.hint": "l'écriture reprendra d'elle-même quand il répondra\u00a0: "
        "`instride list {folder}`",
        "StateTooLargeError.message": "un instantané de {wanted}\u00a0Mo ne tient pas dans les "
        "{room}\u00a0Mo utilisables",
        "StateTooLargeError.hint": "`free -m` montre la mémoire\u202f; `Saver(memory_bytes=...)` "
        "fixe la limite",
        "MismatchError.message": "`{path}` ne convient pas\u00a0: {why}",
        "MismatchError.hint": "`saver.restore(strict=False)` prend ce qui convient et dit ce qu'il "
        "a laissé",
        "MismatchError.hint.inside": "donnez à `Saver` le modèle qui est à l'intérieur\u00a0: "
        "`{part}={part}.{wrapper}`\u00a0; ainsi sauvegardé, un checkpoint convient à toute "
        "exécution",
        "MismatchError.hint.wrapped": "donnez à `Saver` le modèle sous ce nom\u00a0: "
        "`{part}=torch.nn.ModuleDict({{'{wrapper}': {part}}})`",
        "UnsafeCheckpointError.message": "`{path}` contient des valeurs qui pourraient exécuter du "
        "code à la lecture\u00a0: {why}",
        "UnsafeCheckpointError.hint": "si le fichier vient de vous\u00a0: "
        "`restore(weights_only=False)`",
        "SaveSkippedError.message": "`{path}` a été sauté\u00a0: l'instantané précédent est encore "
        "en cours d'écriture",
        "SaveSkippedError.hint": "sauvegardez moins souvent, ou attendez-le avec "
        "`Saver(when_busy='wait')`",
        "SaveSkippedError.message.full": "`{path}` a été sauté\u00a0: le disque est plein, et "
        "l'instantané précédent attend de la place",
        "SaveSkippedError.hint.full": "`df -h {folder}` montre le disque\u00a0; l'autre sera "
        "sauvegardé dès qu'il y aura de la place",
        "NoCheckpointError.message.foreign": "`{directory}` n'a pas de manifeste auquel le "
        "comparer\u00a0: il n'est pas d'instride, ou a été copié sans le dossier caché `.instride`",
        "NoCheckpointError.hint.list": "`instride list {quoted}` montre ce qu'il y a",
        "NoCheckpointError.hint.foreign": "`unzip -t {quoted}` le compare à ses propres sommes de "
        "contrôle, s'il en a",
        "StoreInUseError.hint.prune": "il fait le ménage lui-même, selon son `keep=`\u00a0; la "
        "même commande avec `--dry-run` montre ce qu'elle supprimerait",
        "UnsafeCheckpointError.hint.export": "si le fichier est de vous\u00a0: `{python}` en "
        "Python, là où ses classes sont connues, puis `{command}`",
        "NoStoreError.message": "impossible d'examiner `{path}`\u00a0: {why}",
        "NoStoreError.hint": "indiquer le répertoire donné à `Saver`, ou un checkpoint\u00a0: "
        "`{look}`",
        "NoStoreError.hint.closed": "`{look}` montre à qui il appartient et qui peut le lire",
        "NoStoreError.hint.away": "`{look}` montre où il mène\u00a0: remettre cela en place, ou "
        "supprimer le lien pour continuer sans lui",
        "NoStoreError.hint.checkpoint": "indiquer un checkpoint qui s'y trouve\u00a0: `{command}`",
        "NoStoreError.hint.directory": "indiquer le répertoire où il se trouve\u00a0: "
        "`instride list {folder}`",
        "NoStoreError.hint.list": "`instride list {quoted}` montre ce qu'il y a",
        "MissingLibraryError.message": "`instride {verb}` a besoin de `{name}`, qui n'est pas "
        "installé",
        "MissingLibraryError.hint": "`python -m pip install 'instride[{extra}]'` l'installe",
        "NotExportableError.message": "impossible d'exporter `{path}`\u00a0: {why}",
        "NotExportableError.hint": "`--part` dit ce qu'il faut exporter, comme dans `--part model`",
        "NotExportableError.hint.file": "`unzip -l {quoted}` montre ce que contient le fichier, "
        "s'il vient de torch",
        "NeedsLinuxError.message": "`instride agent` demande Linux\u00a0; ici, c'est `{system}`",
        "NeedsLinuxError.hint": "`instride pack` et `instride prune` font de même à la main",
        "BenchFailedError.message": "le banc d'essai n'a pas pu tourner\u00a0: {why}",
        "BenchFailedError.message.device": "torch ne trouve pas ici de périphérique `{why}`",
        "BenchFailedError.hint": "moins de paramètres demandent moins de mémoire et de "
        "disque\u00a0: `--params 1000000`",
        "BenchFailedError.hint.device": "`--device cpu` mesure les façons de sauvegarder sans GPU",
        "CannotResumeError.message": "`{path}` a été mesuré dans d'autres conditions\u00a0: "
        "{theirs} au lieu de {ours}",
        "CannotResumeError.message.foreign": "`{path}` ne contient aucune mesure de "
        "`instride bench save`",
        "CannotResumeError.message.busy": "un autre `instride bench save` continue déjà `{path}`",
        "CannotResumeError.hint": "`--resume {fresh}` recommence, dans un fichier à part",
        "CannotResumeError.hint.busy": "attendez qu'il finisse, deux à la fois se "
        "ralentissent\u00a0; `pgrep -af 'bench save'` le montre",
        "OverwriteError.message": "`{path}` existe déjà",
        "OverwriteError.hint": "`--force` le remplace",
        "no-pack": "ce n'est pas un pack",
        "is-pack": "c'est déjà un pack",
        "is-packed": "il a déjà été compressé, et c'est maintenant `{pack}`",
        "pack-cut": "la fin manque\u00a0: il a été coupé ou n'a jamais été terminé",
        "pack-version": "sa version est {version}, que cet instride ne connaît pas",
        "pack-index": "son index n'est plus celui qui a été écrit",
        "no-base": "sa base `{base}` n'est pas là",
        "other-base": "sa base `{base}` n'est pas celle avec laquelle il a été compressé",
        "base-no-pack": "la base `{base}` n'est pas un pack",
        "base-elsewhere": "la base `{base}` est dans un autre répertoire",
        "base-of-store": "la base `{base}` appartient à un entraînement qui peut la supprimer, "
        "ce fichier non",
        "base-delta": "la base `{base}` a elle-même une base",
        "changed": "il a changé entre-temps",
        "usage.one-pack": "{name} ne va qu'avec un seul pack",
        "PackError.message": "impossible de compresser `{path}`\u00a0: {why}",
        "PackError.message.unpack": "impossible de décompresser `{path}`\u00a0: {why}",
        "PackError.hint": "`{look}` montre ce qu'il y a",
        "PackError.hint.packed": "`instride unpack {pack}` redonne le fichier",
        "PackError.hint.base": "une base est un pack complet du même répertoire\u00a0: "
        "`instride pack {quoted}` en fait un",
        "PackError.hint.unpack": "`instride list {folder}` montre les packs qu'il y a",
        "PackError.hint.directory": "indiquer les fichiers qui s'y trouvent\u00a0: "
        "`instride pack {quoted}/{pattern}`",
        "PackError.hint.unpack.directory": "indiquer les packs qui s'y trouvent\u00a0: "
        "`instride unpack {quoted}/*.pack`",
        "no-frames": "ni zstd ni lz4 ne l'a compressé",
        "no-seek-table": "sa table d'accès manque à la fin\u00a0: il est tronqué, ou ne vient pas "
        "d'instride",
        "seek-table": "sa table d'accès ne lui correspond pas",
        "want-flag": "il faut true ou false",
        "want-text": "il faut un texte",
        "want-pattern": 'il faut un motif de noms de fichiers, comme "step_*.pt"',
        "want-count": "il faut un entier à partir de 1\u00a0; sans lui, tout est gardé",
        "want-whole": "il faut un entier de {low} à {high}",
        "want-share": "il faut une part entre 0 et 1, comme 0.02",
        "want-seconds": "il faut un nombre de secondes",
        "want-choice": "il faut l'un de {names}",
        "no-level": "un pack n'a pas de niveau",
        "no-text": "ce n'est pas du texte en UTF-8",
        "usage.no-directory": "aucun répertoire indiqué\u00a0; il en faut un, ou un --config avec "
        "[watcher] path",
        "BadConfigError.message": "`{setting}` dans `{path}`, ligne {line}, est inutilisable"
        "\u00a0: {why}",
        "BadConfigError.message.file": "`{path}` est inutilisable\u00a0: {why}",
        "BadConfigError.hint": "les sections sont `[watcher]` path, pattern, interval\u00a0; "
        "`[cleanup]` keep_latest\u00a0; `[compression]` enabled, level, format, "
        "remove_original\u00a0; "
        "`[governor]` budget, mode, deadline, log",
        "NoAgentError.message": "aucun agent n'est encore passé dans `{path}`",
        "NoAgentError.hint": "`instride agent {quoted}` en démarre un",
        "StoreInUseError.message.here": "`{directory}` appartient à un autre Saver de ce "
        "processus ({pid})",
        "StoreInUseError.hint.here": "appelez d'abord `close()` de cet autre Saver, ou donnez à "
        "celui-ci un dossier à lui",
        "SaveSkippedError.message.inside": "`{path}` a été sauté\u00a0: un gestionnaire de signal "
        "l'a demandé pendant une autre sauvegarde",
        "SaveSkippedError.hint.inside": "laissez la boucle sauvegarder\u00a0: `saver.due(step)` "
        "entend SIGTERM et SIGUSR1",
        "StoreInUseError.message.agent": "`{directory}` appartient à l'agent de PID {pid} sur "
        "{host}, qui tourne encore",
        "StoreInUseError.hint.agent": "son `Saver` fait le ménage lui-même, selon son `keep=`"
        "\u00a0; l'agent peut s'occuper du répertoire une fois l'entraînement terminé",
        "StoreInUseError.hint.second-agent": "`instride agent status {quoted}` montre ce qu'il "
        "fait\u00a0; `kill {pid}` l'arrête",
    }
