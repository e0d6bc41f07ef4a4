import json

import pytest

from dynaweb.dataset.imports.tally import Tally
from dynaweb.errors import UserError
from dynaweb.world.data.counts import Counts
from dynaweb.world.data.foreign import Foreign, foreign_rows, require_learnable
from dynaweb.world.data.row import RowKind


def test_three_shapes_are_read_and_the_rest_is_counted(tmp_path):
    rows = [
        {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]},
        {"prompt": "2+2", "completion": "4"},
        {"conversations": [{"from": "system", "value": "s"}, {"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
        {"messages": [{"role": "user", "content": "no answer"}]},
        {"messages": [{"role": "tool", "content": "x"}, {"role": "assistant", "content": "y"}]},
        {"conversations": [{"from": "human", "value": "q"}, 7]},
        {"text": "?"},
    ]  # fmt: skip
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n{torn", encoding="utf-8")
    counts, tally = Counts(), Tally()
    made = list(foreign_rows([Foreign(path=path, kind=RowKind.CHAT)], tally, counts))
    assert [[m.role for m in r.messages] for r in made] == [
        ["user", "assistant"],
        ["user", "assistant"],
        ["system", "user", "assistant"],
    ]
    assert counts.plain() == {"other rows: dropped": {"chat: no_conversation": 4}}
    assert tally.dropped == {"line is torn": 1}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "0 rows"),
        (b"\xc2\xee\xa9\n", "1 line is not UTF-8"),
        (b'{"messages": 3}\n{"text": "x"}\n', "2 rows, none a conversation that ends"),
    ],
)
def test_a_file_without_a_row_is_refused_and_one_row_is_enough(tmp_path, content, says):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"rows\.jsonl' holds no row for --chat \({says}"):
        require_learnable([Foreign(path=path, kind=RowKind.CHAT)])
    path.write_bytes(b'{"prompt": "2+2", "completion": "4"}\n' + content)
    require_learnable([Foreign(path=path, kind=RowKind.CHAT)])
