"""The thinking of a model before it speaks, which some servers leave in the text of the reply.

The tags are those of the models that are served without a parser for them: DeepSeek and Qwen (``<think>``), Mistral
(``[THINK]``), Kimi, Seed, Cohere, gpt-oss (channels) and others. A closing tag alone ends thinking too, since some chat
templates write the opening one into the prompt. A tag in quotation marks or backticks is a word of the reply.
"""

import re

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think)"
_OPEN = (
    rf"<(?i:{_NAMES})>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>|<unused94>(?:thought\n)?"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^<]*<\|message\|>"
)
_CLOSE = (
    rf"</(?i:{_NAMES})>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<unused95>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>|assistantfinal"
)
_SURROUNDING = (
    r"</?(?:answer|final_answer|response)>|<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution)\|>"
    r"|<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text)\|>|<end_of_turn>|<｜end▁of▁sentence｜>"
)
_TAG = re.compile(rf"(?<![`\"'“])(?:({_OPEN})|({_CLOSE})|{_SURROUNDING})(?![`\"'”])")
_BEGINS = re.compile(r"(?:[<\[◁][^>\]▷\n]{0,60}|<\|channel\|>[^\n]{0,60}|a[sitanfl]{0,13}|[`\"'“])\Z")
"""The end of a piece of text that may become a tag with the next piece."""


class Spoken:
    """The part of a reply outside its thinking, while the reply comes in pieces.

    ``text`` is all of it so far. It shrinks if a closing tag shows that what came before it was thinking;
    ``has_thought`` then becomes true, as after any other thinking.

    Args:
        expects_close: Whether the reply is held back up to a closing tag, as for a model that writes only this one.
    """

    def __init__(self, *, expects_close: bool = False) -> None:
        self.text = ""
        self.has_thought = False
        self.closed_alone = False
        self._thought: str | None = "" if expects_close else None  # since the opening tag
        self._held = ""

    def push(self, piece: str) -> str:
        """Return what ``piece`` adds to the text."""
        self._held += piece
        return self._read(is_last=False)

    def end(self, *, is_cut: bool = False) -> str:
        """Return what the end of the reply adds: text that was held back, or that a false opening tag hid.

        A reply that was held back and has no closing tag is all text, unless it was cut off at its limit.
        """
        said = self._read(is_last=True)
        if self._thought is not None and (self.text or not (self.has_thought or is_cut)):
            said += self._say(self._thought)
        return said

    def _read(self, *, is_last: bool) -> str:
        said = ""
        while (tag := _TAG.search(self._held)) and (is_last or tag.end() < len(self._held)):
            said += self._add(self._held[: tag.start()])
            self._held = self._held[tag.end() :]
            if tag[1]:
                self._thought = tag[0] if self.text else ""
                self.has_thought = self.has_thought or not self.text
            elif tag[2]:
                said = self._close(said)
        begins = None if is_last else (tag or _BEGINS.search(self._held))
        at = begins.start() if begins else len(self._held)
        said += self._add(self._held[:at])
        self._held = self._held[at:]
        return said

    def _close(self, said: str) -> str:
        """End the thinking; without a beginning, all that was said before was thinking."""
        if self._thought is None:
            self.closed_alone = self.closed_alone or bool(self.text)
            self.text = said = ""
        self._thought, self.has_thought = None, True
        return said

    def _add(self, text: str) -> str:
        if self._thought is None:
            return self._say(text)
        self._thought += text
        return ""

    def _say(self, text: str) -> str:
        text = text if self.text or not self.has_thought else text.lstrip()
        self.text += text
        return text
