# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema and the rules agree on what a schema can say.

Documents are a right one with up to two values exchanged or removed. jsonschema and the
command line judge each; the ids of rules that no schema can express are left out of the verdict."""

import copy
import json
import os
import tempfile

import hypothesis
import jsonschema
from command import ROOT, validate
from hypothesis import strategies as st

SCHEMA = json.loads((ROOT / "schema/metadef.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Names that stand twice, columns, what names in rules mean, bindings between operators; and MD009,
# a document of another tool. MD029 to MD030: the grammar of rules lies inside strings.
BEYOND_SCHEMA = {
    "MD005",
    "MD009",
    "MD013",
    "MD014",
    "MD017",
    "MD027",
    "MD028",
    "MD029",
    "MD030",
    "MD043",
    "MD044",
} | {f"MD0{n}" for n in range(31, 40)}

names = st.sampled_from(
    ["x", "grad_x", "eps_2", "X", "2x", "", "self", "class", "a" * 65, "exp", 3, None]
)
op_names = st.sampled_from(
    ["relu", "element_add", "ElementAdd", "exp", "main", "lambda", "out", "a-b", 1]
)
dtypes = st.sampled_from(["float32", "fp16", "half", "bool", "Float32", "float_32", "", 32])
formats = st.sampled_from(["ND", "NCHW", "nd", "FRACTAL_NZ", 1])
dims = st.sampled_from(
    [-1, 0, 3, 2**63 - 1, 2**63, -3, "n", "N_1", "...", "-1", "1n", "", "min", True, None, 1.5]
)
ints = st.sampled_from([0, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 1.5, True, "1", None])
values = st.recursive(
    st.one_of(ints, st.sampled_from(["", "float32", "a", "a\0b", 1e300, False])),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)
attr_types = st.sampled_from(
    [
        "int",
        "float",
        "string",
        "bool",
        "type",
        "list_int",
        "list_float",
        "list_string",
        "list_bool",
        "list_list_int",
        "Int",
    ]
)
wrong = st.sampled_from([None, 1, "text", True, [], {}, [1], ["a"], [[]]])

# A right document that has every field.
GOOD = {
    "op_name": "relu_like",
    "op_type": "Custom",
    "namespace": "mine",
    "input_desc": [
        {
            "name": "x",
            "dtype": ["float32"],
            "format": ["ND"],
            "shape": ["n", 3],
            "param_type": "required",
        },
        {"name": "w", "dtype": ["float32"], "shape": [-2]},
    ],
    "output_desc": [{"name": "y", "dtype": ["float32"], "format": ["ND"], "shape": ["n", 3]}],
    "attr": [
        {"name": "eps", "type": "float", "param_type": "optional", "default_value": 0.5},
        {"name": "axis", "type": "int"},
    ],
    "shape_rule": "kernel",
    "gradient": {"op": "relu_grad", "inputs": ["x", "grad_y"], "outputs": ["x"]},
    "mutates": ["w"],
    "side_effect": False,
    "mixed_dtypes": "promote",
}
shapes = st.one_of(
    st.sampled_from(
        [[-2], [-1], [-2, 3], [1] * 32, [1] * 33, ["..."] + [1] * 32, ["..."] + [1] * 33]
    ),
    st.lists(dims, max_size=4),
)
rules = st.one_of(
    st.sampled_from(["kernel", "forward", "same(x)"]),
    st.lists(st.sampled_from([0, 7, -1, 1.5, 2**63, "n", True, None]), max_size=3),
)
typed = st.fixed_dictionaries(
    {"name": st.just("k"), "type": attr_types},
    optional={
        "default_value": values,
        "param_type": st.sampled_from(["required", "optional", "dynamic"]),
    },
)
REMOVED = object()
# Where a value may be exchanged, and for what.
PLACES = [
    (("op_name",), op_names),
    (("op_type",), st.sampled_from(["Custom", "custom", 1])),
    (("namespace",), st.sampled_from(["mine2", "aten", "class", "Mine", 1])),
    (("input_desc",), st.sampled_from([[], [1], {}, "x"])),
    (("output_desc",), st.sampled_from([[], [1], {}, "x"])),
    (("input_desc", 1, "name"), names),
    (("input_desc", 0, "dtype"), st.lists(dtypes, max_size=2)),
    (("output_desc", 0, "format"), st.lists(formats, max_size=2)),
    (("input_desc", 1, "shape"), shapes),
    (("input_desc", 0, "param_type"), st.sampled_from(["optional", "dynamic", "Optional", 1])),
    (("attr",), st.lists(typed, max_size=2)),
    (("attr",), typed.map(lambda attr: [attr])),
    (("attr", 0, "default_value"), values),
    (("attr", 0, "type"), attr_types),
    (("attr", 1, "param_type"), st.sampled_from(["required", "optional"])),
    (("shape_rule",), rules),
    (("shape_rule",), st.fixed_dictionaries({}, optional={"y": rules})),
    (("gradient",), st.sampled_from(["none", "auto", "relu_grad", "exp", "A", [], {}])),
    (("gradient", "op"), op_names),
    (("gradient", "inputs"), st.sampled_from([[], ["x"], [1], "x"])),
    (("mutates",), st.sampled_from([[], ["x"], [1], "x"])),
    (("side_effect",), st.sampled_from([True, 0, "true"])),
    (("mixed_dtypes",), st.sampled_from(["float32", "error", "none", 1])),
    (("more",), wrong),
]


def paths(node, path=()):
    """Every place of the document, for the removals and for values of quite another kind."""
    yield path
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from paths(value, (*path, key))


anywhere = st.sampled_from([path for path in paths(GOOD) if path])
changes = st.one_of(
    *[strategy.map(lambda value, path=path: (path, value)) for path, strategy in PLACES],
    anywhere.map(lambda path: (path, REMOVED)),
    st.tuples(anywhere, wrong),
)


def changed(edits):
    document = copy.deepcopy(GOOD)
    for path, value in edits:
        node = document
        try:
            for key in path[:-1]:
                node = node[key]
            if value is REMOVED:
                del node[path[-1]]
            else:
                node[path[-1]] = copy.deepcopy(value)
        except (TypeError, KeyError, IndexError):
            pass  # an earlier edit took the place away
    return document


operators = st.lists(changes, max_size=2).map(changed)
documents = st.one_of(operators, operators, operators, st.lists(operators, max_size=2), wrong)


def verdicts(batch):
    """For each document: the ids that count, and whether any others were found."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, document in enumerate(batch):
            files.append(f"{number}.json")
            with open(os.path.join(folder, files[-1]), "w", encoding="utf-8") as file:
                json.dump(document, file)
        report, _ = validate(files, cwd=folder)
    found = {name: set() for name in files}
    for diagnostic in report["diagnostics"]:
        found[diagnostic["file"]].add(diagnostic["id"])
    return [found[name] for name in files]


@hypothesis.settings(max_examples=60, deadline=None, derandomize=True)
@hypothesis.given(st.lists(documents, min_size=20, max_size=40))
def test_schema_and_rules_agree(batch):
    for document, ids in zip(batch, verdicts(batch), strict=True):
        by_schema = VALIDATOR.is_valid(document)
        by_rules = not ids - BEYOND_SCHEMA
        assert by_schema == by_rules, (
            document,
            ids,
            [e.message for e in VALIDATOR.iter_errors(document)],
        )


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_both_verdicts_are_common():
    """The test above would prove little if nearly all documents were right, or wrong."""
    seen = []

    @hypothesis.settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @hypothesis.given(documents)
    def judge(document):
        seen.append(VALIDATOR.is_valid(document))

    judge()
    assert 0.2 < sum(seen) / len(seen) < 0.8
