# SPDX-License-Identifier: Apache-2.0
"""opwright validate as a program: exit codes, output formats, all problems in one pass."""

import json
import os
import subprocess

import pytest
from command import BINARY, run, validate

PARAM = {"dtype": ["float32"], "format": ["ND"], "shape": [-1]}
GOOD = {
    "op_name": "element_add",
    "op_type": "Custom",
    "input_desc": [{"name": "x", **PARAM}, {"name": "y", **PARAM}],
    "output_desc": [{"name": "z", **PARAM}],
}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


def test_a_right_file_is_exit_0(tmp_path, write):
    result = run("validate", write("op.json", GOOD), cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout == "1 file, 1 valid operator, 0 errors, 0 warnings\n"


def test_an_operator_folder_stands_for_its_metadef(tmp_path, write):
    (tmp_path / "op").mkdir()
    write("op/op.json", GOOD)
    assert run("validate", "op", cwd=tmp_path).returncode == 0
    empty = run("validate", ".", cwd=tmp_path)
    assert empty.returncode == 2
    assert "op.json" in empty.stdout


def test_a_warning_is_exit_0(tmp_path, write):
    result = run("validate", write("op.json", {**GOOD, "atr": []}), cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.splitlines()[0].startswith("op.json:1:")
    assert '"attr" [MD005]' in result.stdout


def test_errors_are_exit_1_and_all_are_shown(tmp_path, write):
    text = """{
  "op_name": "ElementAdd",
  "input_desc": [{"name": "x", "dtype": ["Float32"], "shape": -1}],
  "output_desc": [],
  "attr": [{"name": "eps", "type": "int", "default_value": "1"}]
}"""
    result = run("validate", write("op.json", text), cwd=tmp_path)
    assert result.returncode == 1
    places = [line.split(" error: ")[0] for line in result.stdout.splitlines()[:-1]]
    assert places == [
        "op.json:2:14:",
        "op.json:3:42:",
        "op.json:3:63:",
        "op.json:4:18:",
        "op.json:5:60:",
    ]
    assert result.stdout.splitlines()[-1] == "1 file, 0 valid operators, 5 errors, 0 warnings"


def test_a_file_that_cannot_be_read_is_exit_2(tmp_path, write):
    result = run("validate", "no.json", write("op.json", "[1,]"), cwd=tmp_path)
    assert result.returncode == 2
    assert "cannot read no.json: No such file or directory" in result.stdout
    assert "op.json:1:3: error: " in result.stdout, "the other files are checked all the same"
    (tmp_path / "empty").mkdir()
    assert run("validate", "empty", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("verb", "missing"),
    [
        ("validate", "FILE"),
        ("build", "SOURCE"),
        ("check", "PATH"),
        ("inspect", "LIB"),
        ("cache", "ACTION"),
    ],
)
def test_a_command_without_its_argument_names_the_argument(verb, missing):
    result = run(verb)
    assert result.returncode == 2
    assert f"{missing} is required" in result.stderr
    assert "no command" not in result.stderr


def test_an_unknown_command_names_the_nearest():
    result = run("valdate")
    assert result.returncode == 2
    assert "no command valdate" in result.stderr and "did you mean validate?" in result.stderr


def test_json_output(tmp_path, write):
    report, code = validate(
        [write("a.json", GOOD), write("b.json", '{"ключ": "\\"", }')], cwd=tmp_path
    )
    assert code == 1
    assert report["files"] == ["a.json", "b.json"]
    assert (report["operators"], report["errors"], report["warnings"]) == (1, 1, 0)
    (found,) = report["diagnostics"]
    assert (found["file"], found["line"], found["column"], found["length"]) == ("b.json", 1, 14, 1)
    assert (found["id"], found["severity"]) == ("MD002", "error")
    assert found["message"] == "not JSON: a comma before '}'; JSON allows none"
    assert found["hint"] == "remove the comma"


def test_sarif_output(tmp_path, write):
    files = [write("a b.json", {**GOOD, "op_name": "exp", "atr": 1}), "no.json"]
    log = json.loads(run("validate", "--format", "sarif", *files, cwd=tmp_path).stdout)
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    assert one["columnKind"] == "unicodeCodePoints"
    rules = {rule["id"] for rule in one["tool"]["driver"]["rules"]}
    assert rules == {result["ruleId"] for result in one["results"]} == {"MD001", "MD005", "MD012"}
    by_id = {result["ruleId"]: result for result in one["results"]}
    assert by_id["MD005"]["level"] == "warning"
    place = by_id["MD012"]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b.json"
    assert place["region"] == {"startLine": 1, "startColumn": 13, "endColumn": 18}
    assert "region" not in by_id["MD001"]["locations"][0]["physicalLocation"]


def test_an_unknown_format_is_refused(tmp_path, write):
    result = run("validate", "--format", "xml", write("op.json", GOOD), cwd=tmp_path)
    assert result.returncode == 2
    assert "text" in result.stderr and "sarif" in result.stderr


def test_a_device_is_no_metadef(tmp_path):
    (tmp_path / "op.json").symlink_to("/dev/zero")
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "op.json")
    for given in ("/dev/zero", "op.json", "folder"):
        result = run("validate", given, cwd=tmp_path)
        assert result.returncode == 2
        assert "a device, a pipe or a socket" in result.stdout
    result = run("inspect", "/dev/zero")
    assert result.returncode == 2
    assert "a device, a pipe or a socket" in result.stderr


def test_a_pipe_that_is_named_is_read_to_the_limit():
    def through_a_pipe(command):
        return subprocess.run(
            ["bash", "-c", f'"$0" validate <({command})', BINARY], capture_output=True, check=False
        )

    text = json.dumps(GOOD)
    assert through_a_pipe(f"echo '{text}'").returncode == 0
    endless = through_a_pipe("cat /dev/zero")
    assert endless.returncode == 1
    assert b"MD003" in endless.stdout
