# SPDX-License-Identifier: Apache-2.0
"""What libraries and operators tell of themselves, and shapes without a run."""

import copy
import json
import pickle

import numpy as np
import operators
import pytest
from operator_libraries import write_operator

import opwright
from opwright import _core


def test_a_library_lists_its_operators_in_the_metadefs_order(lib):
    names = tuple(metadef["op_name"] for metadef in operators.METADEF)
    assert lib.operators == names == tuple(lib)
    assert len(lib) == len(names)
    assert set(names) <= set(dir(lib))


def test_an_operator_is_found_by_item_and_by_attribute(lib):
    assert lib["element_add"] is lib.element_add
    assert lib.element_add.name == "element_add"
    assert lib.element_add.identity == lib.identity


# M13
def test_a_name_that_is_not_there_lists_the_names(lib):
    with pytest.raises(opwright.LoadError, match=r"did you mean element_add\?") as caught:
        lib["elment_add"]
    assert caught.value.code == "LD013"
    with pytest.raises(AttributeError, match="element_add"):
        _ = lib.elment_add
    assert not hasattr(lib, "nothing") and not hasattr(lib, "__wrapped__")
    for name in ("ElementAdd", "element\ud800", 3):
        with pytest.raises(opwright.LoadError, match="LD013"):
            lib[name]
    assert not hasattr(lib, "element\ud800")


def test_reprs_say_name_and_place(lib):
    assert repr(lib.element_add).startswith("<opwright operator element_add of ")
    assert lib.path in repr(lib) and lib.identity[:8] in repr(lib)


def test_the_metadef_is_the_one_that_was_written(lib):
    for written in operators.METADEF:
        assert lib[written["op_name"]].metadef == written
    json.dumps(lib.affine.metadef)


def test_the_definition_is_the_metadef_lowered(lib):
    affine = lib.affine.definition
    assert [param.name for param in affine.inputs] == ["x", "w", "bias"]
    assert [param.kind for param in affine.inputs] == [0, 0, 1]
    assert affine.attrs[0].name == "eps" and affine.attrs[0].default == 0.5
    assert lib.matmul.definition.inputs[0].dims == ("n", "k")
    assert lib.attributes.definition.attrs[-1].default == [[1], [2, 3]]


def test_copies_are_the_operator_itself(lib):
    assert copy.copy(lib.twice) is lib.twice
    model = {"layer": [lib.twice]}
    assert copy.deepcopy(model)["layer"][0] is lib.twice


# P05 W08
def test_an_operator_is_pickled_by_the_path_and_content_of_its_library(lib, python, tmp_path):
    (tmp_path / "operator").write_bytes(pickle.dumps([lib.element_add, lib]))
    printed = python(
        """
        import pickle, sys, numpy as np
        operator, library = pickle.load(open(sys.argv[1], "rb"))
        one = np.float32([1])
        print(operator(one, one).item(), library["twice"](one).item())
        """,
        tmp_path / "operator",
    )
    assert printed == "2.0 2.0\n"


# P05 W09
def test_what_was_pickled_before_a_rebuild_is_what_this_process_has_loaded(plus, tmp_path):
    path = tmp_path / "libadd.so"
    opwright.build(plus(tmp_path / "op", 60), path)
    library = opwright.load(path)
    pickled = pickle.dumps([library.element_add, library])
    opwright.build(plus(tmp_path / "op", 61), path)
    one = np.float32([1])
    assert opwright.load(path).element_add(one, one).item() == 63
    for _ in range(2):  # while another file is at the path, and then none
        op, again = pickle.loads(pickled)
        assert op.key == again.element_add.key == library.element_add.key
        assert op(one, one).item() == again["element_add"](one, one).item() == 62
        path.unlink(missing_ok=True)
    del library, op, again
    assert pickle.loads(pickled)[0](one, one).item() == 62


UNPICKLE = """
import pickle, sys, opwright
for pickled in pickle.load(open(sys.argv[1], "rb")):
    try:
        print("none", pickle.loads(pickled))
    except opwright.LoadError as error:
        print(error)
"""


# P05 W09
def test_a_pickled_operator_whose_library_changed_is_refused_in_its_own_words(
    plus, tmp_path, python
):
    path, file = tmp_path / "libadd.so", tmp_path / "pickled"
    opwright.build(plus(tmp_path / "op", 62), path)
    library = opwright.load(path)
    file.write_bytes(pickle.dumps([pickle.dumps(library.element_add), pickle.dumps(library)]))
    opwright.build(plus(tmp_path / "op", 63), path)
    then, now = library.identity[:8], opwright.load(path).identity[:8]
    words = (
        f"was saved with the content {then} of {path}, and that file is another now ({now}); keep "
        "the library that it was saved with, or save the state_dict of the model and load it into "
        "a model made with the new one [LD012]"
    )
    assert python(UNPICKLE, file).splitlines() == [f"element_add {words}", f"a library {words}"]
    path.unlink()
    for line in python(UNPICKLE, file).splitlines():
        assert str(path) in line and line.endswith("[LD001]")


def test_a_closed_library_is_loaded_from_its_file_again(plus, tmp_path):
    path = tmp_path / "libadd.so"
    opwright.build(plus(tmp_path / "op", 64), path)
    one = np.float32([1])
    with opwright.load(path) as library:
        pickled = pickle.dumps(library.element_add)
    assert pickle.loads(pickled)(one, one).item() == 66


def spec(shape, dtype="float32"):
    return opwright.Spec(shape, dtype)


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda lib: lib.twice.infer(spec((2, 3))), spec((2, 3))),
        (lambda lib: lib.element_add.infer(spec((4, 1)), spec((3,))), spec((4, 3))),
        (
            lambda lib: lib.element_add.infer(spec((2,)), spec((2,), "float64")),
            spec((2,), "float64"),
        ),
        (lambda lib: lib.element_add.infer(spec((2,)), 1.5), spec((2,))),
        (lambda lib: lib.matmul.infer(np.zeros((2, 3), "f4"), spec((3, 10**9))), spec((2, 10**9))),
        (lambda lib: lib.shrink.infer(spec((5,)), by=3), spec((2,))),
        (lambda lib: lib.join.infer([spec((5,)), spec((6,))]), spec((11,))),
        (lambda lib: lib.affine.infer(spec((2,)), spec((2,)), None), spec((2,))),
        (
            lambda lib: lib.sum_and_difference.infer(spec((0,)), spec((0,))),
            (spec((0,)), spec((0,))),
        ),
    ],
)
def test_infer_gives_shapes_and_dtypes_without_a_run(lib, call, want):
    assert call(lib) == want


def test_infer_takes_inputs_by_name_as_a_call_does(lib):
    assert lib.matmul.infer(b=spec((3, 4)), a=spec((2, 3))) == spec((2, 4))
    assert lib.affine.infer(spec((2,)), w=spec((2,)), bias=spec((1,))) == spec((2,))


def test_infer_agrees_with_the_call(lib):
    x, y = np.zeros((4, 1), np.float32), np.zeros((1, 3), np.float64)
    got = lib.element_add(x, y)
    assert lib.element_add.infer(x, y) == spec(got.shape, got.dtype.name)


def test_infer_refuses_what_a_call_refuses(lib):
    with pytest.raises(opwright.ShapeError):
        lib.matmul.infer(spec((2, 3)), spec((4, 5)))
    with pytest.raises(opwright.DTypeError):
        lib.twice.infer(spec((2,), "int32"))
    with pytest.raises(opwright.CallError):
        lib.twice.infer(spec((-2,)))
    with pytest.raises(opwright.DTypeError, match="str was given"):
        lib.twice.infer("x")
    with pytest.raises(opwright.DTypeError, match="float33"):
        lib.twice.infer(spec((2,), "float33"))


# E01
def test_infer_of_bfloat16_names_it(lib):
    assert lib.echo.infer(spec((2,), "bfloat16")) == spec((2,), "bfloat16")


def test_the_area_of_an_error_is_its_type():
    from opwright import _errors

    for area, kind in {
        "MD": opwright.MetadefError,
        "BD": opwright.BuildError,
        "LD": opwright.LoadError,
        "RG": opwright.RegistryError,
        "CL": opwright.CallError,
        "GR": opwright.GradientError,
        "EX": opwright.FormulaError,
        "CK": opwright.CheckError,
        "CA": opwright.CacheError,
        "IN": opwright.InternalError,
    }.items():
        error = _errors.make(f"{area}999", "words")
        assert type(error) is kind and isinstance(error, opwright.Error)
        assert isinstance(error, RuntimeError)
        assert str(error) == f"words [{area}999]" and error.code == f"{area}999"


def test_every_exception_survives_pickling():
    for kind in opwright.Error.__subclasses__() + opwright.CallError.__subclasses__():
        error = kind("words é", "CL999", [{"line": 3}])
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert (str(again), again.code, again.diagnostics) == ("words é", "CL999", [{"line": 3}])


def test_a_default_that_pytorch_cannot_read_is_not_in_its_schema(tmp_path):
    path = write_operator(
        tmp_path / "tiny",
        {
            "op_name": "tiny",
            "input_desc": [{"name": "x", "dtype": ["float64"], "shape": [-2]}],
            "output_desc": [{"name": "y", "dtype": ["float64"], "shape": [-2]}],
            "attr": [
                {"name": "low", "type": "float", "default_value": 1e-320},
                {"name": "least", "type": "float", "default_value": 2.2250738585072014e-308},
                {"name": "lows", "type": "list_float", "default_value": [1.0, -1e-320]},
                {"name": "zeros", "type": "list_float", "default_value": [0.0]},
            ],
        },
        """#include <opwright/kernel.h>
        void Tiny(opwright::View<const double> x, opwright::View<double> y, double low,
                  double least, opwright::List<double> lows, opwright::List<double> zeros) {
          for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = x.Data()[i] + (low == 1e-320);
        }
        OPWRIGHT_FUNCTION(tiny, Tiny)
        """,
    )
    op = opwright.load(opwright.build(path))["tiny"]
    schema = _core.torch_schema(op._core)
    assert "float? low=None, float least=2.2250738585072014e-308" in schema
    assert "float[]? lows=None, float[] zeros=[0.0]" in schema
    assert op(np.zeros(1)) == 1
