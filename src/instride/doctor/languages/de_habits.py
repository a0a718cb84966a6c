"""German: habits, loading, keys and intervals."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "twin-keys": Saying(
        title="Ein Schlüssel ist gesetzt, ein anderer wird gelesen",
        sentence="`{key}` ist {value} in {place}, der Code liest aber `{read}` ({read_place}), und"
        " das ist {read_value} ({set_place}).",
        fix="Einen Schlüssel behalten, unter dem Namen, den der Code liest.",
    ),
    "contradicting-values": Saying(
        title="Werte, die einander widersprechen",
        sentence="`{key}` ist {value} in {place}, `{other}` aber {other_value} in {other_place}.",
        fix="Den Wert behalten, der gemeint ist.",
    ),
    "unused-key": Saying(
        title="Ein Schlüssel, den nichts liest",
        sentence="In keinem Code kommt `{key}` vor ({place}).",
        fix="Entfernen oder vom Code lesen lassen.",
    ),
    "collects-garbage-often": Saying(
        title="Immer wieder Speicherbereinigung von Hand",
        sentence="`gc.collect()` wird {calls}-mal hintereinander aufgerufen, und das Training"
        " wartet jedes Mal.",
        fix="Einmal aufräumen, oder in der Schleife gar nicht.",
    ),
    "empties-cache": Saying(
        title="Der Cache des GPU-Speichers wird geleert",
        sentence="`{code}` gibt Speicher zurück, den der nächste Schritt wieder anfordert.",
        fix="Weglassen; gegen Fragmentierung hilft"
        " `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
    ),
    "synchronizes-every-step": Saying(
        title="Jeder Schritt wartet auf die GPU",
        sentence="`{code}` in jedem Schritt: Nichts wird gestartet, solange die GPU zu Ende"
        " rechnet.",
        fix="Weglassen, oder nur in Schritten, deren Zeit gemessen wird.",
    ),
    "waits-for-values-every-step": Saying(
        title="Jeder Schritt wartet auf einen Wert",
        sentence="`{code}` in jedem Schritt: Python wartet auf die GPU, bevor es den nächsten"
        " Schritt vorbereitet.",
        fix="Als Tensor auf der GPU lassen und nur alle paar Schritte lesen.",
    ),
    "loader-restarts-workers": Saying(
        title="Loader-Prozesse starten in jeder Epoche neu",
        sentence="{workers:Loader-Prozess wird|Loader-Prozesse werden} beendet und neu gestartet,"
        " sooft der Loader von vorn durchlaufen wird.",
        fix="Die Prozesse behalten.",
    ),
    "loader-workers": Saying(
        title="Die Zahl der Loader-Prozesse passt nicht zur Maschine",
        sentence="Der Loader hat {workers:Prozess|Prozesse}, nutzbar"
        " {cores:Kern ist|Kerne sind} vorhanden.",
        fix="Eine Zahl wählen, die dem Training einen Kern übrig lässt.",
    ),
    "loader-not-pinned": Saying(
        title="Kopien, die sich nicht überlappen können",
        sentence="`non_blocking=True` in {copied} wartet trotzdem: Die Batches des Loaders liegen"
        " nicht in fixiertem Speicher (pinned memory).",
        fix="Den Loader seine Batches fixieren lassen.",
    ),
    "saves-too-often": Saying(
        title="Speichern kostet mehr Zeit, als es wert ist",
        sentence="Laut Log kostet ein Speichern {cost} und kommt alle {every:Schritt|Schritte}:"
        " {share} der Zeit. Alle {steps:Schritt|Schritte} würde genügen.",
        fix="Alle {steps:Schritt|Schritte} speichern.",
    ),
    "evaluates-too-often": Saying(
        title="Evaluieren kostet mehr als ein Hundertstel der Zeit",
        sentence="Laut Log kostet eine Evaluierung {cost} und kommt alle {every:Schritt|Schritte}:"
        " {share} der Zeit.",
        fix="Alle {steps:Schritt|Schritte} evaluieren, oder auf weniger Batches.",
    ),
    "saves-too-rarely": Saying(
        title="Ein Ausfall kostet viel Arbeit",
        sentence="Das Log zeigt im Mittel alle {apart} einen Ausfall, und alle"
        " {every:Schritt|Schritte} ein Speichern; alle {best} ({steps:Schritt|Schritte}) ginge am"
        " wenigsten verloren.",
        fix="Alle {steps:Schritt|Schritte} speichern.",
    ),
}
UNKNOWNS: dict[str, str] = {}
