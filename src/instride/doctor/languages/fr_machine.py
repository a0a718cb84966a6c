"""French: the machine."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "little-space": Saying(
        title="Peu de place pour les checkpoints",
        sentence="Il reste {free} dans `{path}` : de quoi écrire encore"
        " {checkpoints:checkpoint|checkpoints} de {size}.",
        fix="Faire de la place, ou sauvegarder sur un disque qui en a.",
    ),
    "disk-nearly-full": Saying(
        title="Le disque des checkpoints est presque plein",
        sentence="Il reste {free} dans `{path}`.",
        fix="Faire de la place, ou sauvegarder sur un disque qui en a.",
    ),
    "few-inodes": Saying(
        title="Le système de fichiers n'accepte plus que peu de fichiers",
        sentence="`{path}` n'accepte plus que {files:fichier|fichiers}, quel que soit l'espace"
        " libre.",
        fix="Chercher les répertoires qui contiennent le plus de fichiers, et archiver ou supprimer"
        " ce qui ne sert pas.",
    ),
    "quota-near": Saying(
        title="Un quota est presque épuisé",
        sentence="Votre quota laisse {left} sur {limit} sur le disque de `{path}`.",
        fix="Faire de la place, ou demander un quota plus grand.",
    ),
    "checkpoints-not-writable": Saying(
        title="Impossible d'écrire là où vont les checkpoints",
        sentence="Impossible d'écrire dans `{path}` : {error}.",
        fix="Changer les droits, ou indiquer un autre répertoire.",
    ),
    "volatile-checkpoints": Saying(
        title="Les checkpoints ne sont qu'en mémoire",
        sentence="`{path}` est en mémoire ({filesystem}) : les checkpoints disparaissent au"
        " redémarrage de la machine et occupent de la mémoire jusque-là.",
        fix="Sauvegarder sur un disque ; copier ensuite en mémoire ce qui est lu souvent.",
    ),
    "container-checkpoints": Saying(
        title="Les checkpoints disparaissent avec le conteneur",
        sentence="`{path}` est dans la couche propre du conteneur ({filesystem}) : les checkpoints"
        " disparaissent quand il est supprimé.",
        fix="Y monter un volume ou un répertoire de l'hôte.",
    ),
    "faster-disk-nearby": Saying(
        title="Un disque bien plus rapide est disponible",
        sentence="`{path}` ({filesystem}) accepte {speed}, `{other}` {other_speed}, soit {times} :"
        " {size} y sont sauvegardés en {other_seconds} au lieu de {seconds}.",
        fix="Sauvegarder sur le disque le plus rapide, et copier de là.",
    ),
    "slow-checkpoint-disk": Saying(
        title="Le disque des checkpoints est lent",
        sentence="`{path}` ({filesystem}) accepte {speed}, synchronisation comprise : {size}"
        " prennent {seconds}.",
        fix="Chercher un disque plus rapide, sauvegarder moins souvent, ou confier l'écriture à"
        " autre chose qu'à la boucle d'entraînement.",
    ),
    "remote-checkpoint-disk": Saying(
        title="Les checkpoints quittent cette machine",
        sentence="`{path}` n'est pas sur un disque de ce système ({filesystem}).",
        fix="Sauvegarder sur un disque local, et laisser autre chose copier le fichier terminé.",
    ),
    "swapping-now": Saying(
        title="La mémoire est en cours de swap",
        sentence="La mémoire et le swap échangent {speed} en ce moment.",
        fix="Voir qui occupe la mémoire, et arrêter ou limiter ce qui ne sert pas.",
    ),
    "memory-short": Saying(
        title="Des programmes attendent de la mémoire",
        sentence="Pendant {share} de la dernière minute, des programmes ont attendu de la mémoire.",
        fix="Voir qui occupe la mémoire, et arrêter ou limiter ce qui ne sert pas.",
    ),
    "snapshot-does-not-fit": Saying(
        title="La mémoire ne peut contenir la copie d'un checkpoint",
        sentence="Un checkpoint fait {size} et {available} de mémoire sont disponibles : une"
        " sauvegarde en arrière-plan n'a pas de place pour sa copie.",
        fix="Relever la limite ou libérer de la mémoire ; d'ici là, sauvegarder au premier plan.",
    ),
    "small-shm": Saying(
        title="Peu de mémoire partagée",
        sentence="/dev/shm ne contient que {size} : les workers du loader y font passer leurs"
        " lots.",
        fix="Lancer le conteneur avec davantage, ou remonter /dev/shm plus grand.",
    ),
    "swap-in-use": Saying(
        title="Une grande partie du swap est occupée",
        sentence="{used} de swap sont occupés sur {total}.",
        fix="Voir ce qui a été déplacé dans le swap.",
    ),
    "dirty-limits": Saying(
        title="Beaucoup de données non écrites peuvent s'accumuler",
        sentence="Jusqu'à {limit} peuvent attendre en mémoire d'être écrits dans `{path}`, qui"
        " accepte {speed} : {seconds} d'écriture d'un coup.",
        fix="Laisser le noyau commencer à écrire plus tôt.",
    ),
    "rival-process": Saying(
        title="D'autres programmes travaillent",
        sentence="En ce moment, {share} des processeurs vont à {names}.",
        fix="Baisser leur priorité, ou faire ce travail après l'entraînement.",
    ),
    "rival-reads-checkpoints": Saying(
        title="Autre chose a ouvert des checkpoints",
        sentence="`{file}` est ouvert dans {names}, alors que l'entraînement sauvegarde peut-être.",
        fix="Baisser sa priorité, ou le faire commencer après l'entraînement.",
    ),
    "priority-does-nothing": Saying(
        title="Une priorité basse sans effet",
        sentence="La priorité basse ({priority}) de {names} ne compte pas face à l'entraînement :"
        " un groupe d'ordonnancement à part concourt à égalité.",
        fix="Baisser la priorité du groupe, et non celle du processus.",
    ),
    "ionice-does-nothing": Saying(
        title="Une priorité disque « idle » sans effet",
        sentence="{names} demande à n'utiliser le disque que lorsqu'il est libre ; l'ordonnanceur"
        " `{scheduler}` de {disk} ne connaît rien de tel.",
        fix="Choisir un ordonnanceur qui connaît les priorités, ou limiter le débit du programme"
        " lui-même.",
    ),
    "gpu-throttled": Saying(
        title="Le GPU est bridé",
        sentence="{gpu} tourne en dessous de ses fréquences : {reason}.",
        fix="Vérifier le refroidissement et l'alimentation, ou relever la limite.",
    ),
    "gpu-shared": Saying(
        title="Le GPU a d'autres occupants",
        sentence="{processes:autre processus calcule|autres processus calculent} sur {gpu}.",
        fix="Voir à qui ils appartiennent.",
    ),
    "gpu-link-narrow": Saying(
        title="Le GPU est relié par moins de lignes",
        sentence="{gpu} est relié par {lanes:ligne PCIe|lignes PCIe} et pourrait l'être par"
        " {possible}.",
        fix="Le rebrancher, ou choisir un emplacement qui a toutes ses lignes ; d'ici là, la"
        " liaison se vérifie ici.",
    ),
    "gpu-memory-full": Saying(
        title="La mémoire du GPU est presque prise",
        sentence="{gpu} a {free} de libre sur {total}.",
        fix="Voir qui l'occupe ; il faut parfois tuer des processus à moitié terminés.",
    ),
}
UNKNOWNS: dict[str, str] = {
    "silent-filesystem": "Le système de fichiers de `{path}` n'a pas répondu à temps ; un serveur"
    " de fichiers a peut-être disparu.",
    "unreadable-path": "`{path}` n'a pas pu être examiné : {error}.",
    "unknown-filesystem": "Ce système ne dit pas sur quel système de fichiers est `{path}`.",
    "checkpoint-size": "Combien de checkpoints tiennent encore, et si la mémoire peut contenir une"
    " copie : il n'y en a pas encore dans `{path}` pour en connaître la taille.",
    "not-measured": "À quelle vitesse va `{path}` : il reste trop peu de place pour un essai.",
    "quota": "Si un quota s'applique à `{path}` ({filesystem}) : seul son serveur le sait ;"
    " `quota -s` le lui demande.",
    "hidden-processes": "Ce que {processes:processus actif lit et écrit"
    "|processus actifs lisent et écrivent} : il faut plus de droits.",
    "hidden-from-root": "Ce que {processes:processus actif lit et écrit"
    "|processus actifs lisent et écrivent} : ici, même root ne le voit pas.",
    "open-files": "Quels programmes ont ouvert des checkpoints : ce n'est examiné que sous Linux.",
    "swapping": "Si de la mémoire est en cours de swap : ce n'est examiné que sous Linux.",
    "pressure": "Si des programmes attendent de la mémoire : ce noyau ne le compte pas (pas de"
    " /proc/pressure).",
    "gpu-library": "Comment va le GPU : `pip install 'instride[gpu]'` apporte la bibliothèque qui"
    " interroge son pilote.",
    "silent-gpu": "Comment va le GPU : son pilote n'a pas répondu à temps.",
}
