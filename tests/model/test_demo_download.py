"""The translator in the repository is found from wherever normviz runs."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from shutil import copytree

import pytest
from paths import ROOT

import normviz
from normviz.cli.main import main
from normviz.errors import ModelNotFound
from normviz.model import demo as demo_models
from normviz.model.loading import load_model

CONTENTS = {"model.safetensors": b"weights " * 4000, "config.json": b"{}", "tokenizer.json": b"[]"}


def repository_model(contents=CONTENTS):
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return demo_models.RepositoryModel("notebooks/models/tiny", hashes)


class Repository(ThreadingHTTPServer):
    """Serves files under the paths of the repository, and records what was asked for."""

    daemon_threads = True

    def __init__(self):
        self.contents, self.asked, self.breaks, self.stays = {}, [], set(), set()
        self.halfway, self.over = threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/main"

    def give(self, model, contents):
        self.contents |= {f"/main/{model.folder}/{name}": c for name, c in contents.items()}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path.rpartition("/")[2]
        server.asked.append(name)
        content = server.contents.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if name in server.breaks | server.stays:
            content = content[: len(content) // 2]
        self.wfile.write(content)
        if name in server.stays:
            self.wfile.flush()
            server.halfway.set()
            server.over.wait()

    def log_message(self, *_):
        pass


@pytest.fixture
def repository(monkeypatch):
    """A server in place of the project's repository."""
    with Repository() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(demo_models, "REPOSITORY", server.address)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield server
        server.over.set()
        server.shutdown()


@pytest.fixture
def away(monkeypatch, tmp_path):
    """No checkout, and an empty cache."""
    monkeypatch.setattr(demo_models, "CHECKOUT", tmp_path / "site-packages")
    monkeypatch.setenv("NORMVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def put(folder, contents=CONTENTS):
    folder.mkdir(parents=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


# --- where it is found ---------------------------------------------------------------------------


def test_the_hashes_are_those_of_the_files_in_the_repository():
    folder = ROOT / demo_models.ES_EN.folder
    for name, digest in demo_models.ES_EN.files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name


def test_in_a_checkout_it_lies_beside_the_package(away, repository, monkeypatch):
    monkeypatch.setattr(demo_models, "CHECKOUT", ROOT)
    assert (
        demo_models.ES_EN.locate() == ROOT / "notebooks" / "models" / "es-en" / "model.safetensors"
    )
    assert repository.asked == []
    assert not away.exists()


def test_elsewhere_it_is_downloaded_once_and_cached(away, repository):
    model = repository_model()
    repository.give(model, CONTENTS)
    for _ in range(2):
        path = model.locate()
        assert path == model.cache_path / "model.safetensors"
        assert path.parent.parent == away
        assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == CONTENTS
    assert repository.asked == list(CONTENTS)
    assert list(away.iterdir()) == [model.cache_path]


def test_a_copy_in_the_cache_needs_no_network(away, repository):
    model = repository_model()
    put(model.cache_path)
    assert model.locate().read_bytes() == CONTENTS["model.safetensors"]
    assert repository.asked == []


def test_two_that_fetch_at_once_keep_one(away, repository):
    model = repository_model()
    repository.give(model, CONTENTS)
    with ThreadPoolExecutor(4) as pool:
        found = {*pool.map(lambda _: model.locate(), range(4))}
    assert found == {model.cache_path / "model.safetensors"}
    assert list(away.iterdir()) == [model.cache_path]


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["checkout", "cache", "repository"])
def test_weights_are_checked_wherever_they_come_from(place, away, repository):
    model, other = repository_model(), CONTENTS | {"model.safetensors": b"other weights"}
    if place == "repository":
        repository.give(model, other)
    else:
        put(demo_models.CHECKOUT / model.folder if place == "checkout" else model.cache_path, other)
    with pytest.raises(ModelNotFound) as caught:
        model.locate()
    digest = hashlib.sha256(b"other weights").hexdigest()
    assert f"has the hash {digest[:12]}" in caught.value.found
    assert model.files["model.safetensors"][:12] in caught.value.expected
    mend = {"checkout": "git checkout", "cache": "Remove this folder", "repository": "copy"}
    assert mend[place] in caught.value.do
    if place == "repository":
        assert f"in {repository.address}/{model.folder}" in caught.value.found
        assert list(away.iterdir()) == []


def test_a_page_in_place_of_a_file_is_refused(away, repository):
    model = repository_model()
    repository.give(model, CONTENTS | {"config.json": b"<html>Please log in</html>"})
    with pytest.raises(ModelNotFound, match=r"^config\.json in http.* has the hash"):
        model.locate()
    assert list(away.iterdir()) == []


def test_a_folder_that_lacks_a_file_is_refused(away, repository):
    model = repository_model()
    put(model.cache_path, {name: CONTENTS[name] for name in ("model.safetensors", "config.json")})
    with pytest.raises(ModelNotFound, match=r"there is no tokenizer\.json.*Remove this folder"):
        model.locate()


def test_an_answer_that_breaks_off_leaves_nothing_behind(away, repository):
    model = repository_model()
    repository.give(model, CONTENTS)
    repository.breaks.add("tokenizer.json")
    with pytest.raises(ModelNotFound, match=r"could not be downloaded .*IncompleteRead\(1 bytes"):
        model.locate()
    assert list(away.iterdir()) == []
    repository.breaks.clear()
    assert model.locate().is_file()


def test_a_missing_file_is_named(away, repository):
    with pytest.raises(ModelNotFound, match="HTTP Error 404"):
        repository_model().locate()
    assert list(away.iterdir()) == []


def test_a_repository_that_says_nothing_is_given_up(away, repository, monkeypatch):
    model = repository_model()
    repository.give(model, CONTENTS)
    repository.stays.add("model.safetensors")
    monkeypatch.setattr(demo_models, "PATIENCE", 0.2)
    with pytest.raises(ModelNotFound, match="timed out"):
        model.locate()
    assert list(away.iterdir()) == []


def test_without_a_network_it_says_what_to_copy_where(away, repository, monkeypatch, capsys):
    repository.shutdown()
    repository.server_close()
    with pytest.raises(ModelNotFound) as caught:
        normviz.analyze("demo-translator", "Hola.", target="Hi.")
    error = caught.value
    assert str(demo_models.ES_EN.cache_path) in error.found
    assert (
        f"could not be downloaded from {repository.address}/notebooks/models/es-en" in error.found
    )
    assert "project's repository" in error.expected
    assert f"copy the folder notebooks/models/es-en of the repository to {away}" in error.do
    assert "NORMVIZ_CACHE" in error.do
    assert main(["check", "demo-translator"]) == 2
    assert capsys.readouterr().err.startswith("normviz: The model is neither in a checkout")
    copytree(ROOT / "notebooks/models/es-en", demo_models.ES_EN.cache_path)
    assert main(["check", "demo-translator"]) == 0


FETCH = """
import sys
from pathlib import Path
from normviz.model import demo
demo.CHECKOUT, demo.REPOSITORY = Path(sys.argv[1]), sys.argv[2]
demo.RepositoryModel("notebooks/models/tiny", dict(zip(sys.argv[3::2], sys.argv[4::2]))).locate()
"""


@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_a_fetch_that_is_interrupted_leaves_no_half_model(how, away, repository):
    model = repository_model()
    repository.give(model, CONTENTS)
    repository.stays.add("tokenizer.json")
    hashes = [word for pair in model.files.items() for word in pair]
    command = [sys.executable, "-c", FETCH, str(demo_models.CHECKOUT), repository.address, *hashes]
    running = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL
    )
    assert repository.halfway.wait(60)
    running.send_signal(getattr(signal, how))
    assert running.wait(60) != 0
    assert not model.cache_path.exists()
    if how == "SIGINT":  # nobody can tidy up after the other
        assert list(away.iterdir()) == []
    repository.stays.clear()
    assert {p.name: p.read_bytes() for p in model.locate().parent.iterdir()} == CONTENTS


# --- the model itself ----------------------------------------------------------------------------


def test_downloaded_it_translates_as_from_the_checkout(away, repository):
    folder = ROOT / demo_models.ES_EN.folder
    repository.give(
        demo_models.ES_EN, {name: (folder / name).read_bytes() for name in demo_models.ES_EN.files}
    )
    downloaded = normviz.analyze("demo-translator", "Tengo tres gatos.", generate=20)
    assert [*downloaded.cross.queries][1:-1] == ["I", "have", "three", "cat", "s", "."]
    assert downloaded.receipt.ok
    assert downloaded.receipt.model == "demo-translator"
    named = normviz.analyze(folder, "Tengo tres gatos.", generate=20)
    assert (downloaded.cross["weighted-norm"] == named.cross["weighted-norm"]).all()
    assert load_model("demo-translator", dtype="float64").model.dtype.itemsize == 8


def test_every_demo_has_a_class():
    assert {*demo_models.CLASSES} == {*demo_models.DEMOS}


def test_nothing_is_ready_to_fetch_before_it_must():
    code = (
        "import sys, normviz, normviz.model.demo; "
        "sys.exit('urllib.request' in sys.modules or 'http.client' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ})
