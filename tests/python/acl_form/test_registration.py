# SPDX-License-Identifier: Apache-2.0
"""The four steps in code and words: codes, orders, repetitions, working folders, threads."""

import itertools
import shutil
from pathlib import Path

import pytest

import acl
import opwright
from opwright import _core

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "acl_form"
CODES = {row[0]: row[1] for row in _core.error_ids()}


def test_every_step_of_the_right_order_returns_0(run):
    run("""
        assert register() == [0] * 6
        z = acl.ops.element_add(np.float32([1, 2]), np.float32([10, 20]))
        assert z.dtype == np.float32 and z.tolist() == [11, 22]
        assert acl.get_recent_err_msg() == ""
        assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
    """)


def test_importing_acl_registers_nothing(run):
    run("""
        assert opwright._core.acl.names() == [] and opwright._core.loaded() == []
        assert not hasattr(acl.ops, "element_add")
    """)


def test_without_init_each_function_returns_its_code_with_words(run):
    run(f"""
        assert acl.rt.set_device(0) == {CODES["RG007"]}
        assert set(register()[1:]) == {{0}}
        assert acl.finalize() == 0
        assert {{
            acl.rt.set_device(0), acl.rt.reset_device(0), acl.ops.load_operator_library(LIBRARY),
            acl.op.register_operator("element_add"),
            acl.op.register_operator_model("element_add", ADD, "element_add"),
            acl.op.register_operator_gradient("element_add", GRAD),
            acl.op.unregister_operator("element_add"), acl.finalize(),
        }} == {{{CODES["RG007"]}}}
        assert "acl.init()" in acl.get_recent_err_msg() and "[RG007]" in acl.get_recent_err_msg()
    """)


def test_after_finalize_calls_are_refused_and_init_brings_registrations_back(run):
    run("""
        register()
        acl.finalize()
        try:
            acl.ops.element_add(np.float32([1]), np.float32([2]))
            raise SystemExit("no error")
        except opwright.RegistryError as error:
            assert error.code == "RG007"
        acl.init()
        assert acl.ops.element_add(np.float32([1]), np.float32([2])).tolist() == [3]
    """)


# M11
def test_of_the_24_orders_one_succeeds_and_the_others_name_the_missing_step(run):
    for order in itertools.permutations(range(4)):
        run(f"""
            calls = [
                lambda: acl.ops.load_operator_library(LIBRARY),
                lambda: acl.op.register_operator("element_add"),
                lambda: acl.op.register_operator_model("element_add", ADD, "element_add"),
                lambda: acl.op.register_operator_gradient("element_add", GRAD),
            ]
            names = ["load_operator_library", "register_operator", "register_operator_model",
                     "register_operator_gradient"]
            acl.init()
            done = 0
            for k in {list(order)}:
                code = calls[k]()
                if k == done:
                    assert code == 0, acl.get_recent_err_msg()
                    done += 1
                elif k > done:
                    assert code == {CODES["RG001"]}
                    words = acl.get_recent_err_msg()
                    assert f": {{names[done]}} is missing before it" in words, words
                    assert not hasattr(acl.ops, "element_add") or done >= 3
            assert done == 4 or {list(order)} != [0, 1, 2, 3]
            assert register() == [0] * 6
            assert acl.ops.element_add(np.float32([1]), np.float32([2])).tolist() == [3]
        """)


# M15
def test_the_same_registration_again_does_nothing(run):
    run("""
        assert register() == [0] * 6
        before = acl.ops.element_add
        assert register() == [0] * 6
        assert acl.ops.element_add is before
    """)


# M15
def test_another_metadef_under_the_name_is_refused_until_it_is_unregistered(run, tmp_path):
    text = (EXAMPLE / "element_add.json").read_text()
    (tmp_path / "other.json").write_text(text.replace("[-1]", "[-2]"))
    run(f"""
        register()
        model = ("element_add", "other.json", "element_add")
        assert acl.op.register_operator_model(*model) == {CODES["RG002"]}
        assert "unregister_operator" in acl.get_recent_err_msg()
        assert acl.op.unregister_operator("element_add") == 0
        assert not hasattr(acl.ops, "element_add")
        assert acl.op.register_operator("element_add") == 0
        assert acl.op.register_operator_model(*model) == 0
        ones = np.ones((2, 2), np.float32)
        assert acl.ops.element_add(ones, ones).tolist() == [[2, 2], [2, 2]]
    """)


# M10
def test_a_gradient_for_a_misspelled_name_is_refused_with_the_nearest(run):
    run("""
        register()
        assert acl.op.register_operator_gradient("elment_add", GRAD) != 0
        assert "did you mean element_add?" in acl.get_recent_err_msg()
    """)


# M13
@pytest.mark.parametrize("name", ["ElementAdd", "element-add", "2add", "", "a" * 65, "é", "a\0b"])
def test_names_that_no_metadef_can_have_are_refused_at_once(run, name):
    run(f"""
        acl.init(), acl.ops.load_operator_library(LIBRARY)
        assert acl.op.register_operator({name!r}) == {CODES["RG009"]}
        assert "small letters" in acl.get_recent_err_msg()
    """)


def test_the_library_that_was_loaded_last_has_the_kernel(run, tmp_path):
    """Going back to an earlier build is a load like any other, by its old path or a new one."""
    source = (EXAMPLE / "add_kernel.cpp").read_text()
    for factor in (2, 3):
        kernel = tmp_path / f"add_{factor}.cpp"
        kernel.write_text(source.replace("= x_data[i]", f"= {factor}.0f * x_data[i]"))
        opwright.build(kernel, tmp_path / f"lib{factor}.so", allow_no_metadef=True)
    shutil.copy(tmp_path / "lib2.so", tmp_path / "copy2.so")
    run("""
        acl.init()
        one, two = np.float32([1]), np.float32([2])
        for name, made in (("lib2", 4), ("lib3", 5), ("lib2", 4), ("lib3", 5), ("copy2", 4)):
            codes = [
                acl.ops.load_operator_library(f"./{name}.so"),
                acl.op.register_operator("element_add"),
                acl.op.register_operator_model("element_add", ADD, "element_add"),
            ]
            assert codes == [0, 0, 0], acl.get_recent_err_msg()
            assert acl.ops.element_add(one, two).tolist() == [made], name
            assert acl.op.unregister_operator("element_add") == 0
    """)


# L07
def test_relative_paths_hold_after_the_working_folder_changes(run, library, tmp_path):
    shutil.copy(library, tmp_path / "libadd.so")
    run("""
        import shutil
        shutil.copy(ADD, "add.json"), shutil.copy(GRAD, "add_grad.json")
        acl.init()
        assert acl.ops.load_operator_library("./libadd.so") == 0
        os.chdir("/")
        assert acl.op.register_operator("element_add") == 0
        assert acl.op.register_operator_model("element_add", "add.json", "element_add") != 0
        words = acl.get_recent_err_msg()
        assert "add.json" in words and "/add.json" in words, words
        assert acl.op.register_operator_model("element_add", ADD, "element_add") == 0
        os.chdir("/tmp")
        assert acl.ops.element_add(np.float32([1]), np.float32([2])).tolist() == [3]
    """)


# L07, X02
def test_a_missing_library_names_the_given_path_the_resolved_one_and_the_folder(run, tmp_path):
    run(f"""
        acl.init()
        assert acl.ops.load_operator_library("./nowhere.so") == {CODES["LD001"]}
        words = acl.get_recent_err_msg()
        for part in ("./nowhere.so", {str(tmp_path / "nowhere.so")!r}, "[LD001]", "What to do:"):
            assert part in words, words
        os.mkdir("folder")
        assert acl.ops.load_operator_library("folder") == {CODES["LD002"]}
    """)


def test_a_broken_metadef_gives_its_code_and_every_diagnostic(run, tmp_path):
    (tmp_path / "bad.json").write_text('{"op_name": "element_add", "input_desc": [{}]}')
    run(f"""
        acl.init(), acl.ops.load_operator_library(LIBRARY), acl.op.register_operator("element_add")
        code = acl.op.register_operator_model("element_add", "bad.json", "element_add")
        assert code == {CODES["RG004"]}
        words = acl.get_recent_err_msg()
        assert "bad.json:1:" in words and "[MD0" in words and "opwright validate" in words, words
    """)


# M13
def test_an_unknown_kernel_lists_the_kernels_that_are_there(run):
    run(f"""
        acl.init(), acl.ops.load_operator_library(LIBRARY), acl.op.register_operator("element_add")
        code = acl.op.register_operator_model("element_add", ADD, "element_ad")
        assert code == {CODES["RG006"]}
        assert "did you mean element_add?" in acl.get_recent_err_msg()
    """)


@pytest.mark.parametrize("device", [1, -1, 10**30])
def test_only_device_0_is_there(run, device):
    run(f"""
        acl.init()
        assert acl.rt.set_device({device}) == acl.rt.reset_device({device}) == {CODES["RG008"]}
        assert "{device}" in acl.get_recent_err_msg()
    """)


@pytest.mark.parametrize(
    "call",
    [
        lambda: acl.init(5),
        lambda: acl.rt.set_device("0"),
        lambda: acl.rt.set_device(True),
        lambda: acl.ops.load_operator_library(b"x.so"),
        lambda: acl.ops.load_operator_library(None),
        lambda: acl.op.register_operator(3),
        lambda: acl.op.register_operator_model("a", 3, "a"),
        lambda: acl.op.register_operator_model("a", "a.json", None),
        lambda: acl.op.register_operator_gradient("a", None),
        lambda: acl.op.unregister_operator(None),
        lambda: acl.op.register_operator(),
    ],
)
def test_arguments_of_a_wrong_python_type_raise_type_error(call):
    with pytest.raises(TypeError):
        call()


def test_the_text_of_a_metadef_is_no_path():
    with pytest.raises(TypeError, match="metadef_path is the path of a JSON file"):
        acl.op.register_operator_model("a", '[{"op_name": "a"}]', "a")
    with pytest.raises(TypeError, match="write it to a file"):
        acl.op.register_operator_gradient("a", '{"op_name": "a_grad"}')


def test_the_words_of_a_failure_are_those_of_its_thread(run):
    run("""
        import threading
        acl.init()
        words = []
        def fail():
            acl.rt.set_device(7)
            words.append(acl.get_recent_err_msg())
        thread = threading.Thread(target=fail)
        thread.start(), thread.join()
        assert "device 7" in words[0] and acl.get_recent_err_msg() == ""
    """)


# P01, P05
def test_an_unregistered_name_is_an_error_with_process_and_rank_and_hasattr_is_false(run):
    run(
        """
        assert "nothing" not in dir(acl.ops)
        acl.init()
        assert not hasattr(acl.ops, "element_add")
        try:
            acl.ops.element_add(np.float32([1]), np.float32([2]))
            raise SystemExit("no error")
        except opwright.RegistryError as error:
            known = "element_add is not registered in this process"
            for part in (known, str(os.getpid()), "RANK=5"):
                assert part in str(error), str(error)
                assert part in acl.get_recent_err_msg()
            import pickle
            assert str(pickle.loads(pickle.dumps(error))) == str(error)
        register()
        assert hasattr(acl.ops, "element_add") and "element_add" in dir(acl.ops)
        """,
        env={"RANK": "5"},
    )


def test_a_failed_call_leaves_its_words(run):
    run("""
        register()
        try:
            acl.ops.element_add(np.ones(2), np.ones(2))
            raise SystemExit("no error")
        except opwright.DTypeError as error:
            assert str(error) in acl.get_recent_err_msg()
        try:
            acl.ops.element_add(np.ones((2, 2), "f4"), np.ones((2, 2), "f4"))
            raise SystemExit("no error")
        except ValueError as error:
            assert "rank 1" in str(error) and "[-2]" in str(error), str(error)
    """)


# M11
def test_the_gradient_is_known_to_operators_taken_before_it_was_registered(run):
    run("""
        acl.init(), acl.ops.load_operator_library(LIBRARY), acl.op.register_operator("element_add")
        acl.op.register_operator_model("element_add", ADD, "element_add")
        early = acl.ops.element_add
        assert early.backward is None
        assert acl.op.register_operator_gradient("element_add", GRAD) == 0
        assert acl.ops.element_add.backward.name == "element_add_grad"
        assert early(np.float32([1]), np.float32([2])).tolist() == [3]
    """)


def test_the_version_is_that_of_opwright():
    project = (ROOT / "compat/pyproject.toml").read_text()
    assert f'\nversion = "{opwright.__version__}"\n' in project
    assert f'"opwright=={opwright.__version__}"' in project


def test_a_registered_operator_is_copied_as_itself_and_is_not_pickled(run):
    run("""
        import copy, pickle
        register()
        operator = acl.ops.element_add
        assert copy.deepcopy(operator) is operator
        try:
            pickle.dumps(operator)
            raise SystemExit("no error")
        except TypeError as error:
            assert "each process does for itself" in str(error)
    """)


def test_no_other_name_of_the_module_hides_an_operator():
    shown = {name for name in vars(acl.ops) if not name.startswith("_")}
    assert shown == {"NotRegisteredError", "load_operator_library"}


def test_operators_are_attributes_while_they_can_be_called(run):
    run("""
        names = vars(acl.ops)
        assert "element_add" not in names
        register()
        operator = names["element_add"]
        assert operator is acl.ops.element_add and "element_add" in dir(acl.ops)
        assert operator.backward.name == "element_add_grad"
        acl.finalize()
        assert "element_add" not in names and not hasattr(acl.ops, "element_add")
        acl.init()
        assert names["element_add"] is operator
        acl.op.unregister_operator("element_add")
        assert "element_add" not in names
    """)


def test_the_module_is_a_module_like_any(run):
    run("""
        import importlib
        from unittest import mock
        register()
        vars(acl.ops)["mine"] = 1
        assert acl.ops.mine == 1
        acl.rt.set_device(7)
        words = acl.get_recent_err_msg()
        assert "nothing" not in vars(acl.ops) and acl.get_recent_err_msg() == words
        with mock.patch.dict(vars(acl.ops), {"element_add": max, "other": min}):
            assert acl.ops.element_add is max and acl.ops.other is min
        assert not hasattr(acl.ops, "other")
        with mock.patch.object(acl.ops, "element_add", max):
            assert acl.ops.element_add(1, 2) == 2
        before, operator = acl.ops.load_operator_library, acl.ops.element_add
        importlib.reload(acl.ops)
        assert acl.ops.load_operator_library is not before
        assert acl.ops.element_add is operator
        assert acl.op.unregister_operator("element_add") == 0
        assert not hasattr(acl.ops, "element_add")
    """)


def test_what_a_user_puts_in_an_operators_place_stays(run):
    run("""
        acl.ops.element_add = max
        register()
        assert acl.ops.element_add is max
        acl.op.unregister_operator("element_add")
        assert acl.ops.element_add is max
        register()
        del acl.ops.element_add
        assert acl.ops.element_add(np.float32([1]), np.float32([2])).tolist() == [3]
    """)
