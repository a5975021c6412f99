# SPDX-License-Identifier: Apache-2.0
"""The demonstration in short: its page holds what it promises, and a wrong operator stops it."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "examples" / "demo" / "demo.py"
OPERATOR = ROOT / "examples" / "fused_add_scale"
PLACES = ["PyTorch eager", "MindSpore PyNative", "MindSpore graph"]
RUNS = [f"{place}, {name}" for place in PLACES for name in ("native expression", "custom operator")]
CUSTOM = RUNS[1::2]


def run(page, *arguments):
    command = [
        sys.executable,
        DEMO,
        "--page",
        page,
        "--epochs",
        "12",
        "--repetitions",
        "1",
        *arguments,
    ]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


class Elements(HTMLParser):
    """Tags with their attributes, and the cells of the table of errors row by row."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.rows = []
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "table":
            self._inside = dict(attrs).get("id") == "errors"
        if tag == "tr" and self._inside:
            self.rows.append([])

    def handle_data(self, data):
        if self._inside and data.strip():
            self.rows[-1].append(data)

    def handle_endtag(self, tag):
        if tag == "table":
            self._inside = False


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "index.html"
    done = run(page)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, page


def test_the_path_of_the_page_is_printed_last(demonstration):
    out, page = demonstration
    assert out.splitlines()[-1] == str(page)


def test_the_page_needs_nothing_else(demonstration):
    text = demonstration[1].read_text()
    assert not re.search(r"https?://|@import|url\(|<script|<link|<img", text)
    assert not [found for found in Elements(text).found if {"src", "href"} & set(found[1])]


def curves(text, kind):
    found = re.findall(rf'<polyline class="{kind}" data-run="([^"]*)" points="([^"]*)"', text)
    return {name: points.split() for name, points in found}


def test_the_page_holds_a_loss_curve_of_every_run(demonstration):
    losses = curves(demonstration[1].read_text(), "curve")
    assert set(losses) == set(RUNS)
    assert all(len(points) >= 12 for points in losses.values())


def test_the_page_holds_how_far_every_custom_run_is_from_its_native_one(demonstration):
    gaps = curves(demonstration[1].read_text(), "gap")
    assert set(gaps) == set(CUSTOM)
    assert all(len(points) == 12 for points in gaps.values())


def test_every_run_learns_the_digits(demonstration):
    text = demonstration[1].read_text()
    accuracies = dict(re.findall(r"</svg>([^<:]+): accuracy ([0-9.]+)", text))
    assert set(accuracies) == set(RUNS)
    assert all(float(each) > 0.9 for each in accuracies.values()), accuracies


def test_every_custom_run_has_the_losses_of_its_native_one(demonstration):
    text = demonstration[1].read_text()
    apart = dict(re.findall(r"</svg>([^<:]+): at most ([0-9.e+-]+)<", text))
    assert set(apart) == set(CUSTOM)
    assert all(float(each) <= 1e-5 for each in apart.values()), apart


def test_the_native_runs_of_the_frameworks_are_the_same_training(demonstration):
    (words,) = re.findall(r'<p id="between">([^<]*)</p>', demonstration[1].read_text())
    assert "from PyTorch eager" in words
    apart = re.findall(r"(MindSpore \w+) ([0-9.e+-]+)[,.]", words)
    assert [place for place, _ in apart] == PLACES[1:]
    assert all(float(each) <= 1e-4 for _, each in apart), words


def test_the_page_holds_the_errors_of_every_gradient_in_every_place(demonstration):
    places, names, *rows = Elements(demonstration[1].read_text()).rows
    assert places[-3:] == PLACES
    assert names == ["native", "custom"] * 3
    for what in ("y", "gradient of x", "gradient of bias", "gradient of scale"):
        assert len([row for row in rows if row[1] == what]) == 7
    for _, _, _, allowed, *errors in rows:
        assert len(errors) == 6
        assert all(float(custom) <= float(allowed) for custom in errors[1::2])


WRONG = {
    "a gradient of scale without bias": (
        "(static_cast<double>(x_data[r * n + i]) + static_cast<double>(bias[i]))",
        "static_cast<double>(x_data[r * n + i])",
    ),
    "a gradient of x without scale": (
        "out[r * n + i] = grad_y[r * n + i] * scale[i]",
        "out[r * n + i] = grad_y[r * n + i]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_gradient_stops_the_demonstration(name, tmp_path):
    folder = tmp_path / "fused_add_scale"
    shutil.copytree(OPERATOR, folder)
    source = folder / "fused_add_scale.cpp"
    right, wrong = WRONG[name]
    assert source.read_text().count(right) == 1
    source.write_text(source.read_text().replace(right, wrong))
    done = run(tmp_path / "index.html", "--operator", folder)
    assert done.returncode == 1
    assert "demo: wrong:" in done.stderr
    assert "gradient of" in done.stdout
    assert not (tmp_path / "index.html").exists()


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(DEMO.parent))
    import compare

    return compare


def mistakes(compare, place, function):
    return {row.what for row in compare.compare(place, function, [(8,), (3, 5)]) if not row.right}


def test_a_wrong_gradient_is_seen_by_the_comparison_in_pytorch(compare):
    import in_torch
    import torch

    class WithoutBias(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, bias, scale):
            ctx.save_for_backward(x, scale)
            return (x + bias) * scale

        @staticmethod
        def backward(ctx, grad):
            x, scale = ctx.saved_tensors
            rows = grad.reshape(-1, scale.numel())
            return grad * scale, (rows * scale).sum(0), (rows * x.reshape(rows.shape)).sum(0)

    (place,) = in_torch.PLACES
    assert mistakes(compare, place, WithoutBias.apply) == {"gradient of scale"}


@pytest.mark.parametrize("mode", ["PyNative", "graph"])
def test_a_wrong_gradient_is_seen_by_the_comparison_in_mindspore(compare, mode):
    import in_mindspore
    from mindspore import nn

    class WithoutBias(nn.Cell):
        def construct(self, x, bias, scale):
            return (x + bias) * scale

        def bprop(self, x, bias, scale, out, dout):
            rows = dout.reshape(-1, scale.shape[0])
            return dout * scale, (rows * scale).sum(0), (rows * x.reshape(rows.shape)).sum(0)

    (place,) = [place for place in in_mindspore.PLACES if place.mode == mode]
    assert mistakes(compare, place, WithoutBias()) == {"gradient of scale"}
