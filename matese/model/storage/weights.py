"""Assign the weights of a module, without random initialisation and without copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from matese.errors import ModelError
from matese.model.storage import checkpoint


class NoRandomWeights(TorchFunctionMode):
    """Skips the initialisation of weights that are about to be loaded, which takes seconds for large models."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401  (torch's signature)
        types: Any,  # noqa: ANN401
        args: Any = (),  # noqa: ANN401
        kwargs: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        arguments = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return arguments["tensor"] if "tensor" in arguments else args[0]
        return func(*args, **arguments)


def assign_all(tensors: Mapping[str, Tensor], module: nn.Module) -> None:
    """Sets all weights of a module.

    Raises:
        ModelError: if names or shapes differ from the module's, or a number is NaN or infinite.
    """
    if missing := sorted(distinct(module).keys() ^ tensors.keys()):
        raise ModelError(f"{len(missing)} tensors are missing or unexpected, such as {missing[0]}")
    assign(tensors, module)


def assign(tensors: Mapping[str, Tensor], module: nn.Module) -> None:
    """Replaces tensors of a module without a copy: the new ones may belong to a file mapped into memory."""
    targets = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for name, tensor in tensors.items():
        if targets[name].shape != tensor.shape:
            raise ModelError(f"{name} is {tuple(tensor.shape)}: must be {tuple(targets[name].shape)}")
        if tensor.is_floating_point() and tensor.numel() and not torch.stack(tensor.aminmax()).isfinite().all():
            raise ModelError(checkpoint.NOT_FINITE.format(name))
        targets[name].data = tensor.to(targets[name].dtype)


def distinct(module: nn.Module) -> dict[str, Tensor]:
    """Returns the state without the second names of shared tensors, such as the embeddings of mBART."""
    seen: set[int] = set()
    distinct = {}
    for name, tensor in module.state_dict().items():
        if tensor.data_ptr() not in seen:
            distinct[name] = tensor
        seen.add(tensor.data_ptr())
    return distinct
