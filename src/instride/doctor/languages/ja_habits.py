"""Japanese: habits, loading, keys and intervals."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "twin-keys": Saying(
        title="設定したキーと読まれるキーが違う",
        sentence="{place}では`{key}`が{value}ですが、コードが読むのは`{read}`（{read_place}）で、"
        "その値は{read_value}です（{set_place}）。",
        fix="コードが読む名前のキー一つにまとめます。",
    ),
    "contradicting-values": Saying(
        title="矛盾する値",
        sentence="{place}では`{key}`が{value}ですが、{other_place}では`{other}`が{other_value}です。",
        fix="意図した値だけを残します。",
    ),
    "unused-key": Saying(
        title="どこからも読まれないキー",
        sentence="`{key}`（{place}）はどのコードにも出てきません。",
        fix="削除するか、コードで読むようにします。",
    ),
    "collects-garbage-often": Saying(
        title="手動のガベージコレクションの繰り返し",
        sentence="`gc.collect()`が{calls}回続けて呼ばれ、そのたびに学習が待たされます。",
        fix="一度だけにするか、ループの中では呼ばないようにします。",
    ),
    "empties-cache": Saying(
        title="GPUメモリのキャッシュを空にしている",
        sentence="`{code}`は、次のステップでまた必要になるメモリを返してしまいます。",
        fix="取り除きます。断片化には`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`が有効です。",
    ),
    "synchronizes-every-step": Saying(
        title="毎ステップGPUを待っている",
        sentence="毎ステップの`{code}`により、GPUが処理を終えるまで何も起動されません。",
        fix="取り除くか、時間を測るステップだけにします。",
    ),
    "waits-for-values-every-step": Saying(
        title="毎ステップ値を待っている",
        sentence="毎ステップの`{code}`により、Pythonは次のステップを準備する前にGPUを待ちます。",
        fix="テンソルのままGPUに置き、数ステップに一度だけ読みます。",
    ),
    "loader-restarts-workers": Saying(
        title="エポックごとにローダーのワーカーが起動し直される",
        sentence="ローダーを最初から回すたびに、{workers}個のワーカーが終了して起動し直されます。",
        fix="ワーカーを残しておきます。",
    ),
    "loader-workers": Saying(
        title="ローダーのワーカー数がマシンに合っていない",
        sentence="データローダーのワーカーは{workers}個、使えるコアは{cores}個です。",
        fix="学習用にコアを一つ残すワーカー数にします。",
    ),
    "loader-not-pinned": Saying(
        title="重ねられないコピー",
        sentence="ローダーのバッチがピン留めメモリにないため、"
        "{copied}の`non_blocking=True`は結局待ちます。",
        fix="ローダーにバッチをピン留めさせます。",
    ),
    "saves-too-often": Saying(
        title="保存に見合わない時間がかかっている",
        sentence="ログによると保存は1回{cost}で{every}ステップごとに行われ、時間の{share}を占めます。"
        "{steps}ステップごとで十分です。",
        fix="{steps}ステップごとに保存します。",
    ),
    "evaluates-too-often": Saying(
        title="評価に時間の1%以上がかかっている",
        sentence="ログによると評価は1回{cost}で{every}ステップごとに行われ、時間の{share}を占めます。",
        fix="{steps}ステップごとにするか、少ないバッチで評価します。",
    ),
    "saves-too-rarely": Saying(
        title="障害のたびに多くの作業が失われる",
        sentence="ログでは平均{apart}ごとに障害が起き、保存は{every}ステップごとです。"
        "{best}（{steps}ステップ）ごとに保存すれば損失が最小になります。",
        fix="{steps}ステップごとに保存します。",
    ),
}
UNKNOWNS: dict[str, str] = {}
