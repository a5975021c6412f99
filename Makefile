# SPDX-License-Identifier: Apache-2.0
#
# Each target does its own set-up (tools/setup.sh), which costs nothing when it has been done.
.DEFAULT_GOAL := help
.PHONY: help demo test support-table bench lint format docs clean

help:
	@echo "make demo           an operator from its source to networks trained with it, and a page about it"
	@echo "make test           all tests, in C++ and in Python"
	@echo "make support-table writes the table in README.md from the results of make test"
	@echo "make bench          all benchmarks"
	@echo "make lint           formatting and lint; make format repairs formatting"
	@echo "make docs           the documentation as HTML"
	@echo "make clean          removes build/; the Python environments .venv* stay"

demo:
	@tools/setup.sh build test
	@tools/demo.sh

test:
	@tools/setup.sh build test numpy2
	@tools/test.sh

support-table:
	@.venv/bin/python tools/support_table.py

bench:
	@tools/setup.sh build test
	@tools/bench.sh

lint:
	@tools/setup.sh build lint
	@tools/lint.sh check

format:
	@tools/setup.sh lint
	@tools/lint.sh format

docs:
	@tools/setup.sh docs
	@tools/docs.sh

clean:
	rm -rf build
