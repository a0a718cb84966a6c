"""French: the causes by name, what helps, what else it could be, and how it was told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.numbers import FrenchNumbers

LOG_TIMES = "afficher l'heure avant et après"
WATCH = "surveiller le CPU, le disque et le GPU"
TOKENS = "afficher le nombre de tokens par étape"


class FrenchCauses(FrenchNumbers):
    titles: ClassVar[Mapping[str, str]] = {
        "eval": "Évaluation",
        "first-eval": "Première évaluation lente",
        "eval-and-save": "Évaluation et sauvegarde dans une même pause",
        "closing-eval": "Évaluation après la dernière étape",
        "closing-eval-and-save": "Évaluation et sauvegarde après la dernière étape",
        "save": "Sauvegarde synchrone",
        "closing-save": "Sauvegarde après la dernière étape",
        "slow-filesystem": "Système de fichiers lent",
        "growing-saves": "Sauvegardes de plus en plus longues",
        "cleanup": "Anciens checkpoints supprimés dans le thread d'entraînement",
        "aftermath": "Étapes lentes après une sauvegarde",
        "warmup": "Compilation et caches lors des premières étapes",
        "recompilation": "Compilation en cours d'exécution",
        "startup": "Démarrage",
        "epoch-stalls": "Un loader qui redémarre à chaque époque",
        "worker-turns": "Un loader avec trop peu de workers",
        "shard-switches": "Passage au fichier de données suivant",
        "data-stalls": "Attente de données, de temps en temps",
        "data-chronic": "Attente de données à chaque étape",
        "restart": "Rien ne tourne entre deux processus",
        "failed-launches": "Lancements avant la première étape",
        "never-again": "Lancements qui n'ont jamais entraîné",
        "crash-loop": "Plantages en boucle",
        "lost": "Travail fait deux fois",
        "allocator-flushes": "Un allocateur à court de mémoire",
        "collector-pauses": "Ramasse-miettes ou allocateur qui fait le ménage",
        "periodic": "Étapes lentes à intervalles égaux",
        "closing-unknown": "Travail inconnu après la dernière étape",
        "slow-zone": "Une série d'étapes lentes",
        "slow-steps": "Étapes lentes isolées",
        "drift": "Étapes de plus en plus lentes",
        "slower-since-resume": "Plus lent depuis une reprise",
        "slower-since": "Plus lent à partir d'une étape",
        "faster-since": "Plus rapide à partir d'une étape",
        "hidden-time": "Temps qui n'est dans aucun nombre affiché",
    }
    rungs: ClassVar[Mapping[str, str]] = {
        "stated": "le journal l'indique",
        "marker": "le journal le signale",
        "period": "l'intervalle correspond à un réglage ou à des pauses signalées",
        "shape": "d'après la seule allure des durées",
    }
    cures: ClassVar[Mapping[str, str]] = {
        "evaluate-less": "évaluer moins souvent",
        "evaluate-fewer": "évaluer sur moins de lots",
        "time-apart": "mesurer l'évaluation et la sauvegarde séparément pour savoir laquelle coûte",
        "save-async": "sauvegarder en arrière-plan",
        "save-less": "sauvegarder moins souvent",
        "save-more": "sauvegarder plus souvent, pour perdre moins",
        "save-if-better": "ne sauvegarder que si l'évaluation s'est améliorée",
        "save-near": "sauvegarder sur un disque local, et copier de là",
        "save-once": "vérifier si des fichiers ou des historiques sont réécrits à chaque "
        "sauvegarde",
        "save-on-signal": "sauvegarder quand le processus reçoit l'ordre de s'arrêter",
        "delete-later": "supprimer les anciens checkpoints dans un autre processus",
        "yield-to-training": "donner la priorité la plus basse à ce qui traite le checkpoint "
        "(compression, envoi)",
        "work-later": "faire attendre la fin de l'entraînement à ce qui traite le checkpoint",
        "skip-when-busy": "sauter une sauvegarde tant que la précédente n'est pas écrite",
        "spend-less": "accorder à l'écriture une part plus petite du temps des étapes (0,02 par "
        "défaut)",
        "pack-later": "s'il y a des packs à faire, les faire après l'entraînement, avec "
        "`instride pack`",
        "cache-compiled": "conserver le cache de compilation d'une exécution à l'autre",
        "cache-startup": "mettre en cache ce que le démarrage prépare (données tokenisées, code "
        "compilé)",
        "fix-shapes": "garder des dimensions fixes\u00a0: compléter, écarter le dernier lot "
        "incomplet, évaluer avec un graphe à part",
        "log-recompiles": "demander au compilateur ce qu'il recompile, et pourquoi",
        "keep-workers": "garder les workers du loader en vie entre les époques",
        "more-workers": "donner plus de workers au loader",
        "prefetch": "précharger plus de lots",
        "prefetch-shard": "ouvrir le fichier de données suivant en arrière-plan, avant d'en avoir "
        "besoin",
        "cheaper-data": "décoder moins à chaque étape\u00a0: préparer les données une fois, ou "
        "prendre un disque plus rapide",
        "resume-by-itself": "reprendre automatiquement quand un processus se termine",
        "read-error": "lire la dernière erreur du journal",
        "limit-restarts": "arrêter après quelques échecs du même genre",
        "collect-on-schedule": "désactiver le ramasse-miettes automatique et le lancer toutes les "
        "quelques étapes, sur tous les rangs à la fois",
        "spare-memory": "laisser plus de place à l'allocateur\u00a0: un lot plus petit, des "
        "segments extensibles",
        "compare-intervals": "noter dans le journal ce que fait la boucle à ces étapes\u202f; "
        "comparer avec les intervalles réglés",
        "compare-settings": "comparer taille de lot, longueur de séquence et autres tâches avant "
        "et après",
        "compare-processes": "comparer la machine, la mémoire GPU libre et les réglages du loader "
        "des deux processus",
        "print-around": "afficher une ligne avec l'heure avant et après ce qui se fait là",
        "trust-clock": "juger la vitesse d'après les horodatages, et non d'après la durée affichée",
        "watch-machine": "surveiller le CPU, le disque et les fréquences du GPU pendant ce temps",
        "watch-memory": "surveiller la mémoire du processus et le swap pendant le ralentissement",
        "watch-disk": "surveiller le disque pendant la sauvegarde",
        "watch-clocks": "surveiller les fréquences et la température du GPU",
    }
    alternatives: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]] = {
        "eval": (
            (
                "des métriques calculées sur un seul cœur après le dernier lot",
                "mesurer les métriques à part",
            ),
            (
                "un loader qui redémarre pour l'évaluation",
                LOG_TIMES + " son premier lot",
            ),
        ),
        "first-eval": (
            (
                "une première évaluation plus grande",
                "comparer le nombre de lots des deux premières",
            ),
            ("un cache de pages froid", "lire une fois les données d'évaluation avant de démarrer"),
        ),
        "eval-and-save": (("l'une des deux seulement", "omettre une fois l'une d'elles"),),
        "closing-eval": (("une évaluation complète voulue", "comparer le nombre de lots"),),
        "closing-eval-and-save": (("l'une des deux seulement", LOG_TIMES),),
        "save": (
            (
                "un système de fichiers lent",
                "diviser la taille du fichier par les secondes et comparer avec dd",
            ),
            (
                "une sérialisation sur un seul cœur",
                "voir si le disque est inactif pendant la sauvegarde",
            ),
            (
                "des rangs qui attendent le plus lent",
                "comparer les durées affichées par les rangs",
            ),
        ),
        "closing-save": (("un envoi ou une conversion à la suite", LOG_TIMES),),
        "slow-filesystem": (
            (
                "une sérialisation sur un seul cœur",
                "regarder si le disque est inactif pendant la sauvegarde",
            ),
            (
                "un autre travail compté avec",
                "y écrire avec dd un fichier de cette taille et le chronométrer",
            ),
        ),
        "growing-saves": (
            ("un disque qui se remplit", "regarder l'espace libre"),
            (
                "d'autres tâches sur le même stockage",
                "chronométrer l'écriture d'un fichier de taille fixe à chaque sauvegarde",
            ),
        ),
        "cleanup": (
            (
                "un serveur de métadonnées lent",
                "chronométrer la suppression d'un petit fichier à cet endroit",
            ),
        ),
        "aftermath": (
            (
                "le noyau qui écrit les pages modifiées",
                "surveiller Dirty et Writeback dans /proc/meminfo",
            ),
            ("une compression ou un envoi", "chercher un processus actif avec top"),
            (
                "un allocateur vidé pour la sauvegarde",
                "compter les nouvelles tentatives d'allocation",
            ),
        ),
        "warmup": (
            (
                "un cache de pages froid",
                "relancer aussitôt\u00a0: les premières étapes sont-elles plus rapides\u202f?",
            ),
            ("un autotuning", "chercher ses lignes, ou le désactiver une fois"),
        ),
        "recompilation": (
            (
                "le chargement de quelque chose qui sert pour la première fois",
                "chercher des lignes près de l'étape",
            ),
            ("l'évaluation elle-même, comptée dans l'étape suivante", LOG_TIMES),
        ),
        "startup": (
            (
                "une file d'attente pour des machines ou des données",
                "afficher l'heure à la première ligne du code",
            ),
        ),
        "epoch-stalls": (
            (
                "une évaluation ou une sauvegarde qui n'affiche rien",
                "afficher une ligne avant chacune",
            ),
            (
                "un mélange de toutes les données",
                "mesurer à part le premier lot d'une époque",
            ),
        ),
        "worker-turns": (
            (
                "une accumulation de gradients ou une écriture de journal à cet intervalle",
                "comparer avec les réglages",
            ),
            (
                "une lecture de fichiers ayant autant d'entrées",
                "changer num_workers\u00a0: l'intervalle suit-il\u202f?",
            ),
        ),
        "shard-switches": (
            (
                "quelque chose qu'une horloge déclenche",
                "comparer les durées, et non les étapes, qui les séparent",
            ),
            ("le ramasse-miettes", "le désactiver un moment\u00a0: gc.disable()"),
        ),
        "data-stalls": (
            (
                "une sauvegarde comptée dans l'attente de données suivante",
                "comparer avec les étapes des sauvegardes",
            ),
            (
                "un système de fichiers en réseau",
                "lire le même fichier avec dd au moment où cela arrive",
            ),
        ),
        "data-chronic": (
            ("une copie vers le GPU comptée avec", "mesurer la copie à part"),
            (
                "trop peu de cœurs pour les workers",
                "comparer num_workers avec les cœurs disponibles",
            ),
        ),
        "restart": (
            (
                "des données sautées lot par lot à la reprise",
                "chercher une telle ligne après le lancement",
            ),
            (
                "une file d'attente",
                "comparer l'heure du lancement avec celle de la première étape",
            ),
        ),
        "failed-launches": (("des essais arrêtés exprès", "regarder leurs dernières lignes"),),
        "never-again": (("un journal copié trop tôt", "regarder de nouveau la fin du fichier"),),
        "crash-loop": (("des exécutions arrêtées exprès", "regarder leurs dernières lignes"),),
        "lost": (
            (
                "une autre exécution dans le même journal",
                "comparer les premières valeurs de la perte des deux",
            ),
        ),
        "allocator-flushes": (
            ("un autre travail aux mêmes étapes", "noter les statistiques de l'allocateur"),
        ),
        "collector-pauses": (
            (
                "l'allocateur qui rend de la mémoire",
                "compter les nouvelles tentatives d'allocation",
            ),
            ("d'autres processus", "surveiller le CPU à une telle étape"),
            (
                "un journal qui s'écrit sur le disque",
                "journaliser moins souvent\u00a0: y en a-t-il moins\u202f?",
            ),
        ),
        "periodic": (
            (
                "une évaluation ou une sauvegarde qui n'affiche rien",
                "comparer avec les intervalles réglés",
            ),
            (
                "un fichier de données qui se termine",
                "diviser ses tokens par ceux d'une étape",
            ),
            (
                "l'écriture du journal",
                "changer son intervalle\u00a0: l'écart suit-il\u202f?",
            ),
        ),
        "closing-unknown": (("un envoi, une conversion, un test", LOG_TIMES),),
        "slow-zone": (
            ("une autre tâche sur la machine", WATCH),
            (
                "un GPU qui baisse sa fréquence",
                "surveiller ses fréquences et les raisons du bridage",
            ),
            ("des exemples plus longs", TOKENS),
        ),
        "slow-steps": (
            ("le ramasse-miettes", "le désactiver un moment\u00a0: gc.disable()"),
            (
                "un accroc du stockage ou du réseau",
                "surveiller le CPU, le disque et le réseau",
            ),
            (
                "de nouvelles dimensions à compiler",
                "demander au compilateur ce qu'il recompile",
            ),
        ),
        "drift": (
            (
                "une fuite de mémoire qui finit en swap",
                "surveiller la mémoire et le swap (vmstat)",
            ),
            (
                "un graphe ou une liste qui grandit",
                "redémarrer\u00a0: les étapes sont-elles de nouveau rapides\u202f?",
            ),
            ("la chaleur", "surveiller les fréquences et la température du GPU"),
            ("des séquences plus longues, à dessein", TOKENS),
        ),
        "slower-since-resume": (
            (
                "une autre machine, ou d'autres tâches dessus",
                "afficher le nom de l'hôte\u202f; surveiller le CPU et le GPU",
            ),
            (
                "une mémoire GPU qui déborde",
                "comparer la mémoire GPU libre avant et après",
            ),
            ("d'autres réglages", "comparer les deux débuts dans le journal"),
        ),
        "slower-since": (
            ("un lot plus grand ou des séquences plus longues, à dessein", TOKENS),
            (
                "un compilateur qui a renoncé (limite de recompilations)",
                "chercher son avertissement",
            ),
            ("une autre tâche sur la machine", WATCH),
        ),
        "faster-since": (("un lot plus petit, à dessein", TOKENS),),
        "hidden-time": (
            ("des hooks ou des loggers entre les étapes", LOG_TIMES),
            (
                "du travail pour lequel le programme arrête exprès son horloge",
                "lire dans le code où elle est relancée",
            ),
        ),
    }
