"""Models and browsers that many tests share, each started once.

Nothing heavy is imported here, so that tests of the core run without torch.
"""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import pytest


@pytest.fixture(scope="session")
def demo():
    """The trained BERT and its tokenizer, loaded as users load it."""
    return _load("demo")


@pytest.fixture(scope="session")
def smollm2():
    """The trained Llama with grouped heads, and its tokenizer."""
    return _load("demo-decoder")


def _load(name):
    from normviz.model.loading import load_model

    loaded = load_model(name)
    return loaded.model, loaded.tokenizer


@pytest.fixture
def tiny():
    """Builds a tiny random model by architecture name."""
    import architectures

    return lambda name="bert", **options: architectures.ALL[name].build(**options)


@pytest.fixture(scope="session")
def browser():
    """A real browser, started once."""
    from browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def show(browser, tmp_path):
    """Opens a flow or a page from disk in a tab of its own."""
    from browser import opening

    with opening(browser, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="session")
def jupyter_host(tmp_path_factory):
    """A Jupyter server with Lab, Notebook 7 and Voila, started once."""
    from hosts import jupyter

    with jupyter(tmp_path_factory.mktemp("jupyter")) as host:
        yield host
