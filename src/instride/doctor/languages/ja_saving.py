"""Japanese: saving, cleaning up and compressing."""

from __future__ import annotations

from instride.doctor.languages.template import Saying

SAYINGS: dict[str, Saying] = {
    "save-in-place": Saying(
        title="チェックポイントを最終的な名前のまま書き込んでいる",
        sentence="チェックポイントが`{target}`へ直接書き込まれます。途中で実行が止まると、"
        "壊れたファイルが完成品と同じ名前で残ります。",
        fix="別名で書いてディスクに同期し、その後で改名します。"
        "`instride.save`を使えば、この三つをすべて行います。",
    ),
    "save-blocks-training": Saying(
        title="保存のたびに学習が待たされる",
        sentence="{loop}のループは、`torch.save`がすべてを書き終えるまで止まります。",
        fix="状態をメモリへコピーし、学習を続けながら書き込みます。Linuxでは、`torch.save`の"
        "代わりに`instride.save`を使えばそうなり、`instride.Saver`は再開と古いものの削除も"
        "行います。ほかの環境ではスレッドで書き込めます。"
        "チェックポイントと同じ大きさの空きメモリが必要です。",
    ),
    "shallow-copy-to-thread": Saying(
        title="学習が変更中のデータをスレッドが保存している",
        sentence="`{state}`はテンソルをコピーせずにスレッドへ渡されるため、"
        "チェックポイントに複数のステップが混ざります。",
        fix="スレッドへ渡す前に、すべてのテンソルをコピーします。",
    ),
    "daemon-thread-saves": Saying(
        title="デーモンスレッドがチェックポイントを書いている",
        sentence="`{thread}`はデーモンスレッドなので、プログラムが終わると書き込みの途中で止まります。",
        fix="Pythonに終了を待たせます。デーモンにしないか、最後の保存の後に`join()`を呼びます。",
    ),
    "module-pickled": Saying(
        title="モジュール全体をpickleで保存している",
        sentence="`{module}`は状態ではなくオブジェクトとして保存されるため、"
        "コードが変わるとファイルを読めなくなります。",
        fix="`state_dict()`を保存し、読み込み側でモジュールを作って`load_state_dict()`を呼びます。",
    ),
    "two-cleaners": Saying(
        title="古いチェックポイントを消すものが二つある",
        sentence="古いチェックポイントは`{one}`と`{other}`の両方に消され、互いに相手を知りません。",
        fix="削除はどちらか一方に任せます。",
    ),
    "deletes-before-saving": Saying(
        title="新しいチェックポイントができる前に古いものを消している",
        sentence="`{delete}`は新しいチェックポイントの書き込み前に実行されます。"
        "その間は一つ少なく、保存に失敗するとそのままになります。",
        fix="新しいチェックポイントを書き終えてから消します。",
    ),
    "orders-by-mtime": Saying(
        title="チェックポイントをステップ順ではなく時刻順に並べている",
        sentence="`{code}`はファイルの時刻で並べていますが、時刻はコピーや同期で変わります。",
        fix="名前に含まれるステップ番号で並べます。",
    ),
    "unanchored-step-pattern": Saying(
        title="ステップ名のパターンが広すぎる",
        sentence="`{pattern}`は`{example}`もチェックポイントとみなします。",
        fix="名前全体を照合します。",
    ),
    "compressor-beside-training": Saying(
        title="学習と並行して圧縮プログラムが動く",
        sentence="`{command}`は学習中に圧縮を行いますが、そこで効く優先度が設定されていません。",
        fix="実行される場所で実際に効く方法で、最低の優先度で起動します。",
    ),
    "syncer-beside-training": Saying(
        title="学習と並行して同期プログラムが動く",
        sentence="`{command}`は学習中にファイルをコピーしますが、"
        "そこで効く帯域制限や優先度が設定されていません。",
        fix="帯域を制限し、最低の優先度にします。",
    ),
    "whole-file-compression": Saying(
        title="チェックポイントをファイルごと圧縮している",
        sentence="`{setting}`はチェックポイントをファイルごと圧縮しますが、"
        "学習済みの重みはほとんど小さくなりません。",
        fix="圧縮を無効にします。",
    ),
}
UNKNOWNS: dict[str, str] = {}
