"""Random weights that are spread enough for attention not to be uniform."""

import re
import zlib

import torch
from torch import nn

KEPT = re.compile(
    r"A_log|dt_bias|(^|\.)D$|correction_bias|codebook|rel_pos|inv_freq|time_decay|time_first|decay|num_batches"
)
"""Parameters whose values have a meaning, and stay as the model draws them."""

COMPARED = re.compile(r"q_proj|k_proj|query|key|qkv|c_attn|in_proj|q_lin|k_lin|\.[qk]\.|w[qk]")
"""Parameters that make queries and keys: larger ones make attention less uniform."""


def spread_weights(model: nn.Module, name: str) -> None:
    """Draw every weight anew, so large that each token gets a different share."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))

    def draw(like: torch.Tensor, std: float) -> torch.Tensor:
        return torch.randn(like.shape, generator=generator) * std

    seen = set()
    with torch.no_grad():
        for path, weight in model.named_parameters():
            if (
                id(weight) in seen
                or KEPT.search(path)
                or not weight.is_floating_point()
                or not weight.numel()
            ):
                continue
            seen.add(id(weight))
            if weight.dim() >= 2:
                inputs = weight[0].numel()
                gain = 1.4 if COMPARED.search(path) else 1.0
                std = 0.7 if "embed" in path and weight.dim() == 2 else gain * inputs**-0.5
                weight.copy_(draw(weight, std))
            elif path.endswith("bias") or not weight.any():
                weight.copy_(draw(weight, 0.2))
            elif weight.numel() > 1:
                weight.add_(draw(weight, 0.1))
