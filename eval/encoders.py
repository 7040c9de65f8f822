"""An encoder for experiments only: DPR (Karpukhin et al. 2020) has one model for questions, another for passages."""

from collections.abc import Sequence

from discorag.config import EncoderSettings, read_settings
from discorag.models.encoder import encoder_from
from discorag.models.protocol import Encoder
from discorag.schema.errors import ConfigError
from discorag.schema.values import Vectors


class DualEncoder:
    """An `Encoder` of two. Vectors have unit length: passages are ranked by cosine; DPR's own code takes dot products.

    Args:
        questions: Encodes queries.
        passages: Encodes everything else; tokens are counted by its tokenizer.
    """

    def __init__(self, questions: Encoder, passages: Encoder) -> None:
        self._questions, self._passages = questions, passages
        self.version = f"{questions.version} {passages.version}"
        self.tokens, self.dimension = passages.tokens, passages.dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the model for passages."""
        return await self._passages.encode_documents(texts)

    async def encode_query(self, text: str) -> Vectors:
        """The vector of the model for questions."""
        return await self._questions.encode_query(text)


async def open_dual(settings: EncoderSettings) -> DualEncoder:
    """The encoders whose names ``settings.model`` has with a space between them, questions first.

    Raises:
        ConfigError: There are not two names, or a model is not on this machine.
    """
    names = settings.model.split()
    if len(names) != 2:
        raise ConfigError(f"{settings.model!r} are not two models.", hint="Name both, with a space between them.")
    each = (settings.model_copy(update={"kind": "auto", "model": name}) for name in names)
    return DualEncoder(*[await encoder_from(read_settings().model_copy(update={"encoder": one})) for one in each])
