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
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


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
    elements = Elements()
    elements.feed(text)
    assert not [found for found in elements.found if {"src", "href"} & set(found[1])]


def test_the_page_holds_both_curves_and_every_gradient(demonstration):
    text = demonstration[1].read_text()
    curves = re.findall(r'<polyline class="curve" data-run="([^"]*)" points="([^"]*)"', text)
    assert [name for name, _ in curves] == [
        "PyTorch, native expression",
        "PyTorch, custom operator",
    ]
    assert all(len(points.split()) >= 12 for _, points in curves)
    for name in ("x", "bias", "scale"):
        assert text.count(f"<td>gradient of {name}</td>") == 7
    assert '<td class="bad">' not in text


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


def test_a_wrong_gradient_is_seen_by_the_comparison_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DEMO.parent))
    import compare
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

    wrong = {
        row.what for row in compare.compare(WithoutBias.apply, [(8,), (3, 5)]) if not row.right
    }
    assert wrong == {"gradient of scale"}
