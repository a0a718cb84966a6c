"""French: saving, cleaning up and compressing."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "save-in-place": Saying(
        title="Checkpoints écrits sous leur nom définitif",
        sentence="Un checkpoint est écrit directement dans `{target}` : si l'exécution est"
        " interrompue entre-temps, un fichier tronqué porte le nom d'un fichier complet.",
        fix="Écrire à côté du nom définitif, forcer l'écriture sur disque, puis renommer ; ou"
        " appeler `instride.save`, qui fait les trois.",
    ),
    "save-blocks-training": Saying(
        title="L'entraînement attend chaque sauvegarde",
        sentence="La boucle en {loop} s'arrête jusqu'à ce que `torch.save` ait tout écrit.",
        fix="Copier l'état en mémoire et le faire écrire pendant que l'entraînement continue. Sous"
        " Linux, `instride.save` le fait à la place de `torch.save`, et `instride.Saver` sait aussi"
        " reprendre et faire le ménage ; ailleurs, un thread peut le faire. Il faut autant de"
        " mémoire libre que la taille d'un checkpoint.",
    ),
    "shallow-copy-to-thread": Saying(
        title="Un thread sauvegarde ce que l'entraînement modifie",
        sentence="`{state}` est remis à un thread sans copie de ses tenseurs : le checkpoint"
        " mélange plusieurs étapes.",
        fix="Copier chaque tenseur avant de le remettre au thread.",
    ),
    "daemon-thread-saves": Saying(
        title="Un thread démon écrit les checkpoints",
        sentence="`{thread}` est un thread démon : à la fin du programme, il est arrêté au milieu"
        " de ce qu'il écrit.",
        fix="Faire attendre Python : pas de démon, ou un `join()` après la dernière sauvegarde.",
    ),
    "module-pickled": Saying(
        title="Un module entier est sérialisé",
        sentence="`{module}` est sauvegardé comme objet et non par son état : le fichier devient"
        " illisible dès que le code change.",
        fix="Sauvegarder `state_dict()` ; à la lecture, construire le module et appeler"
        " `load_state_dict()`.",
    ),
    "two-cleaners": Saying(
        title="Deux responsables des anciens checkpoints",
        sentence="Les anciens checkpoints sont supprimés par `{one}` et aussi par `{other}` ; l'un"
        " ignore l'autre.",
        fix="Laisser la suppression à un seul des deux.",
    ),
    "deletes-before-saving": Saying(
        title="L'ancien checkpoint disparaît avant que le nouveau n'existe",
        sentence="`{delete}` s'exécute avant que le nouveau checkpoint ne soit écrit : dans"
        " l'intervalle il y en a un de moins, et un échec de la sauvegarde en reste là.",
        fix="Supprimer une fois le nouveau checkpoint écrit.",
    ),
    "orders-by-mtime": Saying(
        title="Checkpoints triés par date et non par étape",
        sentence="`{code}` trie les checkpoints par date de fichier, et une"
        " copie change cette date.",
        fix="Trier selon l'étape inscrite dans le nom.",
    ),
    "unanchored-step-pattern": Saying(
        title="Un motif d'étape qui accepte trop de noms",
        sentence="`{pattern}` prend aussi `{example}` pour un checkpoint.",
        fix="Comparer le nom entier.",
    ),
    "compressor-beside-training": Saying(
        title="Un compresseur tourne à côté de l'entraînement",
        sentence="`{command}` compresse pendant l'entraînement, sans priorité qui ait de l'effet"
        " à cet endroit.",
        fix="Le lancer avec la priorité la plus basse, d'une façon qui agisse là où il tourne.",
    ),
    "syncer-beside-training": Saying(
        title="Une synchronisation tourne à côté de l'entraînement",
        sentence="`{command}` copie des fichiers pendant l'entraînement, sans limite ni priorité"
        " qui ait de l'effet à cet endroit.",
        fix="Limiter son débit et lui donner la priorité la plus basse.",
    ),
    "whole-file-compression": Saying(
        title="Des checkpoints entiers sont compressés",
        sentence="`{setting}` compresse des fichiers de checkpoint entiers : des poids entraînés"
        " ne rapetissent guère.",
        fix="La désactiver.",
    ),
}
UNKNOWNS: dict[str, str] = {}
