"""Japanese: what is said when something fails."""
# ruff: noqa: RUF001 - the full width is that of Japanese text

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.errors import ErrorWords


class JapaneseErrors(ErrorWords):
    failures: ClassVar[Mapping[str, str]] = {
        "error": "エラー: {message}",
        "hint": "ヒント: {hint}",
        "stopped": "続行できません: {why}",
        "stopped.path": "`{path}` で中断しました: {why}",
        "stopped.hint": "`df -h . /tmp` でディスクの空きを確認できます",
        "stopped.path.hint": "`{look}` で、何があり、誰が読み書きできるかを確認できます",
        "usage.hint": "`{command} --help` で指定できるものを確認できます",
        "usage.hint.near": "`{nearest}` ではありませんか。`{command} --help` で指定できるものを"
        "確認できます",
        "usage.other": "{text}",
        "usage.no-command": "コマンド `{name}` はありません",
        "usage.no-option": "オプション `{name}` はありません",
        "usage.no-value": "`{name}` には値が必要です",
        "usage.flag": "`{name}` に値は指定できません",
        "usage.choice": "`{value}` は {name} に指定できません（指定できる値: {values}）",
        "usage.missing": "`{name}` が指定されていません",
        "usage.extra": "余分な引数があります: `{values}`",
        "usage.no-log": "ログが指定されていません。ファイル名か、パイプなら - を指定してください",
        "usage.one-pipe": "- は1回だけ指定できます",
        "usage.one-log": "{name} で扱えるログは1つだけです",
        "usage.exclude": "{one} と {other} は同時に指定できません",
        "usage.mtbf": "--mtbf: `{text}` は故障間隔として読み取れません（例: 12h、3d、90min）",
        "wrote": "書き込みました: {path}",
        "os": "{text}",
        "os.ENOENT": "ファイルまたはディレクトリがありません",
        "os.EACCES": "アクセス権がありません",
        "os.EPERM": "許可されていない操作です",
        "os.EISDIR": "ディレクトリです",
        "os.ENOTDIR": "ディレクトリではありません",
        "os.ENOSPC": "ディスクに空きがありません",
        "os.EDQUOT": "ディスクの割り当て量を超えました",
        "os.EROFS": "読み取り専用のファイルシステムです",
        "os.EIO": "入出力エラーです",
        "os.ENAMETOOLONG": "ファイル名が長すぎます",
        "os.ELOOP": "シンボリックリンクの階層が深すぎます",
        "os.EMFILE": "開いているファイルが多すぎます",
        "empty-name": "名前が空です",
        "closed-input": "標準入力が閉じています",
        "damaged": "圧縮データが途中で切れているか、壊れています",
        "no-manifest": "マニフェストがありません（instrideのものではないか、隠しフォルダー "
        "`.instride` なしのコピーです）",
        "gone-manifest": "マニフェストが失われています",
        "other-manifest": "マニフェストが書き込み時と異なります",
        "other-end": "末尾が、この名前で書かれたどのマニフェストとも一致しません",
        "other-size": "{written}バイトのはずが{size}バイトです",
        "other-bytes": "バイト{offset}から{last}までのどこかで内容が異なります",
        "no-file": "ファイルでもディレクトリでもありません",
        "no-part": "`{part}` という部分がありません（あるのは{parts}）",
        "no-parts": "名前の付いた部分がありません",
        "no-tensors": "テンソルが1つもありません",
        "no-such-kind": "`{name}` はsafetensorsが扱えない種類です: {kind}",
        "same-name": "2つのテンソルがどちらも `{name}` という名前になります",
        "unsafe-name": "`{name}` が必要です",
        "unsafe-form": "torchはコードを実行せずには読み込めません",
        "no-archive": "torchで読めません: {text}",
        "no-regex": "正規表現として正しくありません（{text}）",
        "unknown-group": "`{name}` というグループはありません（使える名前: {names}）",
        "near-group": "`{name}` というグループはありません。`{nearest}` ではありませんか"
        "（使える名前: {names}）",
        "no-groups": r"`(?P<step>\d+)` のような名前付きグループがありません",
        "endless": "繰り返しの中に繰り返しがあり、照合が終わらなくなります",
        "no-step-group": "`step` という名前のグループがありません",
        "no-table": "テーブルではありません",
        "no-texts": "文字列のリストではありません",
        "no-setting": "そのような設定はありません",
        "near-setting": "そのような設定はありません。`{nearest}`のことですか",
        "dialects": "{count}種類の形式を調べ、推測も試しました",
        "lines": "{title} の行を探しました",
        "zero-times": "時間がすべて0です",
        "short-total": "合計時間（{total_s}）が評価の時間（{evals_s}）より短く、最後のプロセス"
        "だけの値です",
        "no-times": "ステップの時間を読み取れません",
        "only-evals": "ステップの時間を読み取れません（評価の時間は{evals_s}）",
        "UnknownDialectError.message": "`{name}` という形式はありません",
        "UnknownDialectError.hint": "`instride explain --dialects` で一覧を表示します",
        "UnknownDialectError.hint.near": "`--dialect {nearest}` ではありませんか。`instride "
        "explain --dialects` で一覧を表示します",
        "BadPatternError.message": "パターン `{pattern}` は使えません: {why}",
        "BadPatternError.hint": r"グループに名前を付けてください（例: --pattern 'step "
        r"(?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'）",
        "UnknownRuleError.message": "`{name}` というルールはありません",
        "UnknownRuleError.message.where": "`{name}` というルールはありません（{where}）",
        "UnknownRuleError.hint": "`instride doctor --rules` で一覧を表示します",
        "UnknownRuleError.hint.near": "`{nearest}` ではありませんか。`instride doctor --rules` で"
        "一覧を表示します",
        "BadSettingError.message": "pyproject.toml の `{setting}` は使えません: {why}",
        "BadSettingError.hint": '`ignore = ["save-in-place"]` や `exclude = ["vendor/*"]` のように'
        "書きます",
        "UnreadableLogError.message": "`{path}` を読めません: {why}",
        "UnreadableLogError.hint": "`ls -l` で何があるかを確認できます",
        "EmptyLogError.message": "`{path}` は空です",
        "EmptyLogError.hint": "学習がまだ動いている場合、Python が出力をためていることがあります。"
        "`PYTHONUNBUFFERED=1` を付けて起動してください",
        "BinaryLogError.message": "`{path}` はテキストファイルではありません",
        "BinaryLogError.hint": "explain は学習プログラムの出力を読みます。"
        "`python train.py 2>&1 | tee train.log` で保存できます",
        "NoStepsError.message": "`{path}` に学習ステップが見つかりません（{looked_for}）",
        "NoStepsError.hint": r"ステップの行の形式を --pattern 'step (?P<step>\d+) .* "
        r"(?P<ms>[\d.]+) ?ms' のように指定するか、`instride explain --dialects` を見てください",
        "NoTimesError.message": "`{path}` には{num_steps}ステップありますが、{what}",
        "NoTimesError.message.one": "`{path}` には1ステップありますが、{what}",
        "NoTimesError.hint": "次回は各行に時刻を付けてください: `python train.py 2>&1 | ts "
        "'%Y-%m-%dT%H:%M:%.S' | tee train.log`",
        "NoLogsError.message": "`{path}` の{num_files}個のファイルに学習ログがありません",
        "NoLogsError.message.one": "`{path}` にある唯一のファイルは学習ログではありません",
        "NoLogsError.message.none": "`{path}` にファイルがありません",
        "NoLogsError.hint": "ログそのものを指定してください: `instride explain path/to/train.log`",
        "UnwritableError.message": "`{path}` に書き込めません: {why}",
        "UnwritableError.hint": "`mkdir -p {folder}` でディレクトリを作れます",
        "UnwritableError.hint.there": "`df -h {folder}` と `ls -ld "
        "{folder}` で空き容量と権限を確認できます",
        "UnwritableError.hint.directory": "その中のファイルを指定してください。"
        "`ls -l {folder}` で何があるかを確認できます",
        "NoRepositoryError.message": "`{path}` を調べられません: {why}",
        "NoRepositoryError.hint": "学習コードのディレクトリを指定してください（例: "
        "`instride doctor .`）",
        "DamagedError.message": "チェックポイント `{path}` が壊れています: {why}",
        "DamagedError.hint": "`instride list {folder}` でほかのものを確認できます",
        "StoreInUseError.message": "`{directory}` は {host} で実行中の学習（PID {pid}）が使用して"
        "います",
        "StoreInUseError.hint": "この学習に別のディレクトリを指定するか、もう一方を `kill {pid}` で"
        "終了してください",
        "SaveFailedError.message": "チェックポイント `{path}` を保存できませんでした: {why}",
        "SaveFailedError.message.store": "現在は何も保存できません: {why}",
        "SaveFailedError.hint": "`df -h {folder}` と `ls -ld {folder}` で空き容量と権限を確認でき"
        "ます",
        "SaveFailedError.hint.store": "`ls -ld {folder} {quoted}` と `df -h {folder}` で、権限とデ"
        "ィスクを確認できます",
        "SaveFailedError.hint.taken": "そのファイルには手を付けていません。別の名前にしてください: "
        "`mv -n {quoted} {quoted}.other`",
        "SaveFailedError.hint.folder": "`{quoted}/model.pt` のように、その中のファイルを指定して"
        "ください",
        "SaveFailedError.hint.forked": "`Saver` を作ったプロセスで保存するか、このプロセスで別"
        "に作ってください",
        "SaveFailedError.hint.closed": "`saver.close()` の前に `saver.save(step)` を呼んでください",
        "SaveFailedError.hint.limits": "`free -m` でメモリを、`ulimit -a` と `sysctl "
        "vm.max_map_count` でプロセスの上限を確認できます",
        "SaveFailedError.hint.state": "同じ状態を `torch.save` で保存できるか確認してください。"
        "保存できないものは外すか、数値、文字列、テンソルに変えてください",
        "SaveFailedError.hint.changed": "パラメータへの書き込みは `saver.save(step)` の前か、次の "
        "`optimizer.step()` の後に行ってください",
        "NoCheckpointError.message": "`{directory}` に完全なチェックポイントがありません",
        "NoCheckpointError.message.step": "`{directory}` にステップ{step}の完全なチェックポイントが"
        "ありません",
        "NoCheckpointError.hint": "`instride verify {quoted}` で既存のものの問題を確認できます",
        "UnsafeStateError.message": "{names} があるため、`torch.load(weights_only=True)` ではこの"
        "状態を読み込めません",
        "UnsafeStateError.hint": "数値、文字列、テンソルだけを保存するか、`strict=True` を外して"
        "ください",
        "StorageStuckError.message": "{seconds}の間 `{path}` に何も書き込まれていません。ディスクが"
        "応答していません",
        "StorageStuckError.hint": "応答が戻れば書き込みは自動的に再開します: "
        "`instride list {folder}`",
        "StateTooLargeError.message": "{wanted} MB のスナップショットは、使用できる {room} MB に"
        "収まりません",
        "StateTooLargeError.hint": "`free -m` でメモリを確認できます。上限は "
        "`Saver(memory_bytes=...)` で設定します",
        "MismatchError.message": "`{path}` は適合しません: {why}",
        "MismatchError.hint": "`saver.restore(strict=False)` は適合するものだけを読み込み、除いた"
        "ものを知らせます",
        "MismatchError.hint.inside": "内側のモデルを `Saver` に渡してください: "
        "`{part}={part}.{wrapper}`（こうして保存すれば、どの実行でも読み込めます）",
        "MismatchError.hint.wrapped": "その名前でモデルを `Saver` に渡してください: "
        "`{part}=torch.nn.ModuleDict({{'{wrapper}': {part}}})`",
        "UnsafeCheckpointError.message": "`{path}` には、読み込むとコードを実行しかねない値が含"
        "まれています: {why}",
        "UnsafeCheckpointError.hint": "自分で作成したファイルなら `restore(weights_only=False)` を"
        "使ってください",
        "SaveSkippedError.message": "`{path}` の保存を省きました。前のスナップショットをまだ書き"
        "込み中です",
        "SaveSkippedError.hint": "保存の頻度を下げるか、`Saver(when_busy='wait')` で完了を待って"
        "ください",
        "SaveSkippedError.message.full": "`{path}` の保存を省きました。ディスクがいっぱいで、"
        "前のスナップショットが空きを待っています",
        "SaveSkippedError.hint.full": "`df -h {folder}` で容量を確認できます。空きができれば前"
        "のものは保存されます",
        "NoCheckpointError.message.foreign": "`{directory}` には比べるマニフェストがありません"
        "（instrideのものではないか、隠しフォルダー `.instride` なしのコピーです）",
        "NoCheckpointError.hint.list": "`instride list {quoted}` で何があるかを確認できます",
        "NoCheckpointError.hint.foreign": "ファイル自身にチェックサムがあれば、`unzip -t "
        "{quoted}` で照合できます",
        "StoreInUseError.hint.prune": "その学習は `keep=` に従って自分で削除します。このコマンドで"
        "何が消えるかは、`--dry-run` を付ければ確認できます",
        "UnsafeCheckpointError.hint.export": "自分で作ったファイルなら、そのクラスが使えるPython"
        "で `{python}` を実行してから、`{command}` を実行してください",
        "NoStoreError.message": "`{path}` を調べられません: {why}",
        "NoStoreError.hint": "`Saver` に渡したディレクトリか、チェックポイントを指定してください: "
        "`{look}`",
        "NoStoreError.hint.closed": "`{look}` で、所有者と読み取り権限を確認できます",
        "NoStoreError.hint.away": "`{look}` でリンク先を確認できます。リンク先を戻すか、リンクを削"
        "除すればそれなしで続けられます",
        "NoStoreError.hint.checkpoint": "その中のチェックポイントを指定してください: `{command}`",
        "NoStoreError.hint.directory": "それがあるディレクトリを指定してください: "
        "`instride list {folder}`",
        "NoStoreError.hint.list": "`instride list {quoted}` で何があるかを確認できます",
        "MissingLibraryError.message": "`instride {verb}` には `{name}` が必要ですが、インストール"
        "されていません",
        "MissingLibraryError.hint": "`python -m pip install 'instride[{extra}]'` でインストール"
        "できます",
        "NotExportableError.message": "`{path}` を書き出せません: {why}",
        "NotExportableError.hint": "書き出す部分は `--part model` のように `--part` で指定します",
        "NotExportableError.hint.file": "torchのファイルなら、`unzip -l {quoted}` で中身を確認でき"
        "ます",
        "NeedsLinuxError.message": "`instride agent` には Linux が必要です"
        " (このシステム: `{system}`)",
        "NeedsLinuxError.hint": "`instride pack` と `instride prune` で同じことを手動でできます",
        "BenchFailedError.message": "ベンチマークを実行できませんでした: {why}",
        "BenchFailedError.message.device": "torch はここでデバイス `{why}` を見つけられません",
        "BenchFailedError.hint": "パラメータを減らせば、必要なメモリとディスクも減ります: "
        "`--params 1000000`",
        "BenchFailedError.hint.device": "`--device cpu` を使えば、GPU なしで保存方法を計測できます",
        "CannotResumeError.message": "`{path}` は別の条件で計測されています"
        " (ファイル: {theirs}、今回: {ours})",
        "CannotResumeError.message.foreign": "`{path}` には `instride bench save` の計測結果が"
        "ありません",
        "CannotResumeError.message.busy": "別の `instride bench save` が `{path}` の続きを"
        "計測中です",
        "CannotResumeError.hint": "`--resume {fresh}` を使えば、別のファイルで最初から計測します",
        "CannotResumeError.hint.busy": "同時に動かすと互いに遅くなるため、終わるまで待ってください"
        " (`pgrep -af 'bench save'` で確認できます)",
        "OverwriteError.message": "`{path}` はすでにあります",
        "OverwriteError.hint": "`--force` で置き換えます",
        "no-pack": "パックではありません",
        "is-pack": "すでにパックです",
        "is-packed": "すでにパック済みで、現在は `{pack}` です",
        "pack-cut": "末尾がありません。途中で切れたか、書き終わっていません",
        "pack-version": "バージョン{version}はこのinstrideでは扱えません",
        "pack-index": "索引が書き込み時と異なります",
        "no-base": "ベース `{base}` がありません",
        "other-base": "ベース `{base}` は作成時のものではありません",
        "base-no-pack": "ベース `{base}` はパックではありません",
        "base-elsewhere": "ベース `{base}` が別のディレクトリにあります",
        "base-of-store": "ベース `{base}` は学習が削除しうるものですが、"
        "このファイルはその学習のものではありません",
        "base-delta": "ベース `{base}` 自体にベースがあります",
        "changed": "処理中に変更されました",
        "usage.one-pack": "{name} を使うときはパックを1つだけ指定します",
        "PackError.message": "`{path}` をパックできません: {why}",
        "PackError.message.unpack": "`{path}` を展開できません: {why}",
        "PackError.hint": "`{look}` で何があるかを確認できます",
        "PackError.hint.packed": "`instride unpack {pack}` で元のファイルに戻せます",
        "PackError.hint.base": "ベースは同じディレクトリの完全なパックです。"
        "`instride pack {quoted}` で作れます",
        "PackError.hint.unpack": "`instride list {folder}` でパックを確認できます",
        "PackError.hint.directory": "その中のファイルを指定してください: "
        "`instride pack {quoted}/{pattern}`",
        "PackError.hint.unpack.directory": "その中のパックを指定してください: "
        "`instride unpack {quoted}/*.pack`",
        "no-frames": "zstd でも lz4 でも圧縮されていません",
        "no-seek-table": "末尾にシークテーブルがありません（途中で切れているか、instride "
        "が作ったもの"
        "ではありません）",
        "seek-table": "シークテーブルがファイルと合いません",
        "want-flag": "true か false を指定してください",
        "want-text": "文字列を指定してください",
        "want-pattern": '"step_*.pt" のようなファイル名のパターンを指定してください',
        "want-count": "1 以上の整数を指定してください。省略するとすべて残します",
        "want-whole": "{low} から {high} までの整数を指定してください",
        "want-share": "0.02 のように、0 から 1 までの割合を指定してください",
        "want-seconds": "秒数を指定してください",
        "want-choice": "{names} のいずれかを指定してください",
        "no-level": "パックにレベルはありません",
        "no-text": "UTF-8 のテキストではありません",
        "usage.no-directory": "ディレクトリが指定されていません。ディレクトリか、[watcher] path "
        "のある "
        "--config を指定してください",
        "BadConfigError.message": "`{path}` の {line} 行目の `{setting}` は使えません: {why}",
        "BadConfigError.message.file": "`{path}` は使えません: {why}",
        "BadConfigError.hint": "セクションは `[watcher]` path, pattern, interval、`[cleanup]` "
        "keep_latest、`[compression]` enabled, level, format, remove_original、`[governor]` "
        "budget, "
        "mode, deadline, log です",
        "NoAgentError.message": "`{path}` でエージェントが動いたことはありません",
        "NoAgentError.hint": "`instride agent {quoted}` で開始できます",
        "StoreInUseError.message.here": "`{directory}` はこのプロセス（{pid}）の別のSaverが使用して"
        "います",
        "StoreInUseError.hint.here": "先にそのSaverの `close()` を呼ぶか、"
        "このSaverに別のディレクトリ"
        "を指定してください",
        "SaveSkippedError.message.inside": "`{path}` の保存を省きました。別の保存の最中にシグナル"
        "ハンドラーから要求されました",
        "SaveSkippedError.hint.inside": "保存はループに任せてください。`saver.due(step)` "
        "はSIGTERMと"
        "SIGUSR1を受け取ります",
        "StoreInUseError.message.agent": "`{directory}` は {host} で実行中のエージェント（PID "
        "{pid}）が"
        "使用しています",
        "StoreInUseError.hint.agent": "その `Saver` は `keep=` に従って自分で削除します。"
        "学習が終われば"
        "エージェントに任せられます",
        "StoreInUseError.hint.second-agent": "`instride agent status {quoted}` で様子が分かり、"
        "`kill {pid}` で止められます",
    }
