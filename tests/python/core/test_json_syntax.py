# SPDX-License-Identifier: Apache-2.0
"""What is JSON, compared with Python's reader: the same files are taken, the same refused."""

import json

import hypothesis
from command import validate
from hypothesis import strategies as st

PIECES = st.sampled_from(
    [
        '"a"',
        '"é\\u00e9"',
        "1",
        "-0",
        "01",
        "1.5e3",
        "1.",
        ".5",
        "-",
        "+1",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        " ",
        "\n",
        "true",
        "nul",
        "NaN",
        "'a'",
        "//",
        '"',
        "\\",
        '"\\x"',
        '"\\ud83d\\ude00"',
        "\t",
        '"\t"',
        "{}",
        "[]",
        '{"a":1}',
    ]
)
WHOLE = '{"a": [1, 2.5e-3, "x\\n", {"b": null}], "c": {"d": [true, []]}}'


def mutated(edits):
    text = WHOLE
    for at, remove, piece in edits:
        text = text[:at] + piece + text[at + remove :]
    return text


texts = st.one_of(
    st.lists(PIECES, max_size=8).map("".join),
    st.lists(st.tuples(st.integers(0, 64), st.integers(0, 2), PIECES), max_size=2).map(mutated),
)


def refuse(word):
    raise ValueError(word)


def is_json(text):
    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@hypothesis.settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@hypothesis.given(batch=st.lists(texts, min_size=20, max_size=40))
def test_the_same_texts_are_json(tmp_path, batch):
    files = []
    for number, text in enumerate(batch):
        files.append(f"{number}.json")
        (tmp_path / files[-1]).write_text(text, encoding="utf-8", newline="")
    report, _ = validate(files, cwd=tmp_path)
    for name, text in zip(files, batch, strict=True):
        found = [d for d in report["diagnostics"] if d["file"] == name]
        syntax = [d for d in found if d["id"] == "MD002"]
        assert bool(syntax) == (not is_json(text)), text
        if not syntax:
            continue
        assert len(found) == 1, text
        lines = text.split("\n")
        assert 1 <= syntax[0]["line"] <= len(lines), text
        assert 1 <= syntax[0]["column"] <= len(lines[syntax[0]["line"] - 1]) + 1, text
