"""What tests of GSPO begin from."""

import pytest
from tests.gspo import toys
from transformers import PreTrainedModel


@pytest.fixture(scope="module")
def half_trained(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedModel:
    """A tiny policy that half knows the toy site; train a copy of it (`toys.copy_weights`)."""
    return toys.half_trained(tmp_path_factory.mktemp("sft"))
