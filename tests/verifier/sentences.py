"""The tests of a file by their sentences, as ctest calls them."""

import sys


def collection():
    """(tests by their sentences, the decorator that adds one)."""
    tests = {}

    def sentence(name):
        def remember(test):
            tests[name] = test
            return test
        return remember
    return tests, sentence


def run(tests, **acts):
    """Runs those that the command line names, or all; `--list` names them. `acts`: what another option does."""
    given = sys.argv[1:]
    if given == ["--list"]:
        print("\n".join(tests))
    elif given and given[0].startswith("--"):
        acts[given[0][2:]](given[1:])
    else:
        for name in given or tests:
            tests[name]()
