"""Japanese: the machine."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "little-space": Saying(
        title="チェックポイント用の空きが少ない",
        sentence="`{path}`の空きは{free}で、{size}のチェックポイントがあと{checkpoints}個しか入りません。",
        fix="空きを作るか、余裕のあるディスクに保存します。",
    ),
    "disk-nearly-full": Saying(
        title="チェックポイント用のディスクがほぼ満杯",
        sentence="`{path}`の空きは残り{free}です。",
        fix="空きを作るか、余裕のあるディスクに保存します。",
    ),
    "few-inodes": Saying(
        title="ファイルシステムに作れるファイル数が残り少ない",
        sentence="空き容量にかかわらず、`{path}`に作れるファイルはあと{files}個です。",
        fix="ファイルの多いディレクトリを探し、不要なものをまとめるか消します。",
    ),
    "quota-near": Saying(
        title="クォータの上限が近い",
        sentence="`{path}`のディスクでは、クォータ{limit}のうち残りは{left}です。",
        fix="空きを作るか、上限の引き上げを依頼します。",
    ),
    "checkpoints-not-writable": Saying(
        title="チェックポイントの保存先に書き込めない",
        sentence="`{path}`に書き込めません: {error}。",
        fix="権限を変えるか、別のディレクトリを指定します。",
    ),
    "volatile-checkpoints": Saying(
        title="チェックポイントがメモリ上にしかない",
        sentence="`{path}`はメモリ上（{filesystem}）にあり、"
        "マシンを再起動するとチェックポイントは消え、それまではメモリを占有します。",
        fix="ディスクに保存し、頻繁に読むものだけ後でメモリへコピーします。",
    ),
    "container-checkpoints": Saying(
        title="チェックポイントがコンテナと一緒に消える",
        sentence="`{path}`はコンテナ自身のレイヤー（{filesystem}）にあり、"
        "コンテナを削除するとチェックポイントも消えます。",
        fix="そこにボリュームかホストのディレクトリをマウントします。",
    ),
    "faster-disk-nearby": Saying(
        title="はるかに速いディスクがある",
        sentence="`{path}`（{filesystem}）は{speed}、`{other}`は{other_speed}で{times}速く、"
        "{size}の保存が{seconds}ではなく{other_seconds}で済みます。",
        fix="速いディスクに保存し、そこからコピーします。",
    ),
    "slow-checkpoint-disk": Saying(
        title="チェックポイント用のディスクが遅い",
        sentence="`{path}`（{filesystem}）の速度は同期込みで{speed}で、{size}の保存に{seconds}かかります。",
        fix="速いディスクを探すか、保存を減らすか、学習ループ以外に書き込ませます。",
    ),
    "remote-checkpoint-disk": Saying(
        title="チェックポイントがこのマシンの外に出る",
        sentence="`{path}`はこのシステムのディスク上にありません（{filesystem}）。",
        fix="ローカルディスクに保存し、完成したファイルを別のプログラムにコピーさせます。",
    ),
    "swapping-now": Saying(
        title="メモリがスワップされている",
        sentence="現在、メモリとスワップの間で{speed}のやり取りがあります。",
        fix="メモリを使っているものを調べ、不要なものを終了するか制限します。",
    ),
    "memory-short": Saying(
        title="プログラムがメモリを待っている",
        sentence="直近1分間の{share}で、プログラムがメモリを待っていました。",
        fix="メモリを使っているものを調べ、不要なものを終了するか制限します。",
    ),
    "snapshot-does-not-fit": Saying(
        title="チェックポイントのコピーがメモリに入らない",
        sentence="チェックポイントは{size}、使えるメモリは{available}で、"
        "バックグラウンド保存用のコピーを置く余裕がありません。",
        fix="上限を上げるかメモリを空けます。それまではフォアグラウンドで保存します。",
    ),
    "small-shm": Saying(
        title="共有メモリが少ない",
        sentence="/dev/shmは{size}しかありません。データローダーのワーカーはここを通してバッチを渡します。",
        fix="コンテナをより大きな値で起動するか、大きくマウントし直します。",
    ),
    "swap-in-use": Saying(
        title="スワップの多くが使用中",
        sentence="スワップ{total}のうち{used}が使われています。",
        fix="何がスワップアウトされたかを調べます。",
    ),
    "dirty-limits": Saying(
        title="未書き込みのデータが大量にたまりうる",
        sentence="{speed}の`{path}`への書き込み待ちが、メモリ上に最大{limit}までたまります。"
        "一度に書くと{seconds}かかります。",
        fix="カーネルがより早く書き込みを始めるようにします。",
    ),
    "rival-process": Saying(
        title="ほかのプログラムが動いている",
        sentence="現在、プロセッサーの{share}を{names}が使っています。",
        fix="優先度を下げるか、学習の後に処理させます。",
    ),
    "rival-reads-checkpoints": Saying(
        title="ほかのプログラムがチェックポイントを開いている",
        sentence="学習が保存中かもしれないときに、`{file}`を{names}が開いています。",
        fix="優先度を下げるか、学習の後に始めさせます。",
    ),
    "priority-does-nothing": Saying(
        title="効果のない低い優先度",
        sentence="{names}の低い優先度（{priority}）は学習に対して効きません。"
        "別のスケジューリンググループとして対等に競合します。",
        fix="プロセスではなく、グループの優先度を下げます。",
    ),
    "ionice-does-nothing": Saying(
        title="効果のないアイドルI/O優先度",
        sentence="{names}はディスクが空いているときだけ使う設定ですが、"
        "{disk}のスケジューラー`{scheduler}`はそれに対応していません。",
        fix="優先度に対応したスケジューラーを選ぶか、プログラム自体の速度を制限します。",
    ),
    "gpu-throttled": Saying(
        title="GPUの速度が抑えられている",
        sentence="{gpu}は本来のクロックより低く動いています: {reason}。",
        fix="冷却と電源を確認するか、上限を上げます。",
    ),
    "gpu-shared": Saying(
        title="GPUをほかのプロセスも使っている",
        sentence="{gpu}ではほかに{processes}個のプロセスが計算しています。",
        fix="誰のプロセスかを調べます。",
    ),
    "gpu-link-narrow": Saying(
        title="GPUの接続レーンが少ない",
        sentence="{gpu}のPCIe接続は{lanes}レーンで、本来は{possible}レーンまで使えます。",
        fix="挿し直すか、全レーンが使えるスロットに移します。それまではここで接続を確認できます。",
    ),
    "gpu-memory-full": Saying(
        title="GPUメモリがほぼ埋まっている",
        sentence="{gpu}の空きは{total}中{free}です。",
        fix="誰が使っているかを調べます。終了しかけのプロセスは強制終了が必要なこともあります。",
    ),
}
UNKNOWNS: dict[str, str] = {
    "silent-filesystem": "`{path}`のファイルシステムが時間内に応答しませんでした。"
    "ファイルサーバーが落ちているかもしれません。",
    "unreadable-path": "`{path}`を調べられませんでした: {error}。",
    "unknown-filesystem": "`{path}`がどのファイルシステム上にあるか、"
    "このシステムでは分かりません。",
    "checkpoint-size": "あと何個保存できるか、コピーがメモリに入るかは不明です。"
    "`{path}`に大きさの分かるチェックポイントがまだありません。",
    "not-measured": "`{path}`の速度は不明です。測定用ファイルを書く空きがありません。",
    "quota": "`{path}`（{filesystem}）にクォータがあるかはサーバーしか知りません。"
    "`quota -s`で確認できます。",
    "hidden-processes": "動作中の{processes}個のプロセスの読み書きは、権限がないため見られません。",
    "hidden-from-root": "動作中の{processes}個のプロセスの読み書きは、"
    "ここではrootにも見られません。",
    "open-files": "どのプログラムがチェックポイントを開いているかは、Linuxでのみ調べます。",
    "swapping": "今メモリがスワップされているかは、Linuxでのみ調べます。",
    "pressure": "プログラムがメモリを待っているかは、このカーネルでは分かりません"
    "（/proc/pressureがありません）。",
    "gpu-library": "GPUの状態は不明です。`pip install 'instride[gpu]'`で"
    "ドライバーに問い合わせるライブラリが入ります。",
    "silent-gpu": "GPUの状態は不明です。ドライバーが時間内に応答しませんでした。",
}
