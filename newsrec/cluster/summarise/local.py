"""A causal language model of transformers on this machine, with its chat template.

Decoding is greedy or by beams, so that the same articles give the same summary. Code of model
folders is never run and pickled weights are never read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from newsrec.cluster.articles import summary_of
from newsrec.cluster.plain import answer_sentences
from newsrec.cluster.summarise.frame import MOST_CHARACTERS, TASK, Frame, Message, framed
from newsrec.errors import ConfigError, DataError, MissingExtra, NewsrecError, one_line
from newsrec.languages import canonical
from newsrec.types import Article, Summary

#: Seconds to wait for the hub's answer before the cache is tried.
TIMEOUT_S = 5.0
_FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.jinja"]
# Some templates write today's date; a summary must not change with it.
_FIXED = {"date_string": "26 Jul 2024", "enable_thinking": False}


@dataclass(frozen=True, slots=True)
class Decoding:
    """How an answer is generated: nothing in it is drawn at random."""

    max_new_tokens: int = 300
    num_beams: int = 1
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0


class LocalModel:
    """A summarizer (`newsrec.protocols.Summarizer`) over a model of `transformers`.

    ``model``: a folder or a name on the Hugging Face Hub; a folder with an ``adapter_config.json``
    is a LoRA adapter, which names its base model. ``adapter``: such a folder for ``model``.
    ``task`` begins the system text; None for what an adapter of newsrec was trained for, else
    `newsrec.cluster.summarise.frame.TASK`. ``device``: None for CUDA where there is one. Raises
    `ConfigError` for a model without a chat template, `MissingExtra` without peft, `DataError` for
    what cannot be loaded.
    """

    def __init__(
        self,
        model: str,
        *,
        adapter: str | None = None,
        decoding: Decoding | None = None,
        task: str | None = None,
        device: str | None = None,
    ) -> None:
        self.name = f"hf:{model}" + (f"+{adapter}" if adapter else "")
        self._decoding = decoding or Decoding()
        base, adapter = _base(model, adapter)
        self._task = task or _trained_for(adapter) or TASK
        try:
            self._tokenizer, self._model = load_model(base, adapter, device)
        except NewsrecError:
            raise
        except ImportError as error:
            raise MissingExtra(f"{self.name}: {one_line(error)}; install newsrec[llm]") from error
        except Exception as error:  # the libraries raise whatever they like for a broken folder
            raise DataError(f"{self.name}: not loadable: {one_line(error)}") from error
        self._special = special_tokens(self._tokenizer)

    def __call__(self, articles: Sequence[Article], language: str) -> Summary:
        wanted = canonical(language)
        rows, prompt = self._prompt(articles, wanted)
        if not rows:
            return summary_of((), wanted, (), self.name)
        said = self._answer(prompt)
        sentences = answer_sentences(said, wanted)
        if not sentences:
            raise DataError(f"summarizer {self.name}: the answer has no text: {said[:200]!r}")
        return summary_of(sentences, wanted, rows, self.name)

    def _prompt(self, articles: Sequence[Article], language: str) -> tuple[tuple[int, ...], Any]:
        """Rows and tokens of the longest frame that leaves room for the answer."""
        room = _room(self._model.config) - self._decoding.max_new_tokens
        characters = MOST_CHARACTERS
        while True:
            frame = framed(
                articles, language, task=self._task, characters=characters, special=self._special
            )
            prompt = chat_tokens(self._tokenizer, frame.messages)
            if len(prompt) <= room:
                self._check(frame, prompt)
                return frame.rows, prompt
            if characters < 200:
                raise DataError(
                    f"summarizer {self.name}: {len(prompt)} tokens, the model reads {room} beside "
                    f"an answer of {self._decoding.max_new_tokens}; take one that reads more"
                )
            characters //= 2

    def _check(self, frame: Frame, prompt: list[int]) -> None:
        """The special tokens of ``prompt`` are those of the frame; an article must bring none."""
        system, user = frame.messages
        head, mark, _, _, foot = _around(user["content"])
        empty = (system, {"role": "user", "content": f"{head}{mark}\n{mark}{foot}"})
        known = set(self._special.values())
        if [t for t in prompt if t in known] != [
            t for t in chat_tokens(self._tokenizer, empty) if t in known
        ]:
            raise DataError(
                f"summarizer {self.name}: an article of rows {frame.rows} has text that the "
                "tokenizer takes for a special token; leave that article out"
            )

    def _answer(self, prompt: list[int]) -> str:
        import torch
        from transformers import GenerationConfig

        ends = self._model.generation_config.eos_token_id or self._tokenizer.eos_token_id
        first_end = ends[0] if isinstance(ends, list) else ends
        pad = self._tokenizer.pad_token_id
        settings = GenerationConfig(
            **asdict(self._decoding), do_sample=False, eos_token_id=ends,
            pad_token_id=first_end if pad is None else pad,
        )  # fmt: skip
        ids = torch.tensor([prompt], device=self._model.device)
        with torch.inference_mode():
            found = self._model.generate(
                ids, attention_mask=torch.ones_like(ids), generation_config=settings
            )
        said: str = self._tokenizer.decode(found[0, len(prompt) :], skip_special_tokens=True)
        return said


def chat_tokens(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """The prompt as token ids; a template that knows no system role gets it with the user's."""
    from jinja2.exceptions import TemplateError

    def asked(chat: Sequence[Message]) -> list[int]:
        found = tokenizer.apply_chat_template(
            list(chat), add_generation_prompt=True, return_dict=True, **_FIXED
        )
        return list(found["input_ids"])

    try:
        return asked(messages)
    except TemplateError:
        joined = "\n\n".join(message["content"] for message in messages)
        return asked([{"role": "user", "content": joined}])


def _around(content: str) -> tuple[str, str, str, str, str]:
    """Head, mark line, data, mark line and foot of a frame's user message."""
    head, rest = content.split("\n", 1)
    mark, rest = rest.split("\n", 1)
    data, foot = rest.rsplit(mark, 1)
    return head + "\n", mark, data, mark, foot


def special_tokens(tokenizer: Any) -> dict[str, int]:
    """Texts that the tokenizer takes for one special token, and their ids; not the unknown one."""
    marked = {
        token.content: number
        for number, token in tokenizer.added_tokens_decoder.items()
        if token.special or token.content[:1] in "<["
    }
    return {text: number for text, number in marked.items() if number != tokenizer.unk_token_id}


def _room(config: Any) -> int:
    return int(getattr(config, "max_position_embeddings", None) or 4096)


def _base(model: str, adapter: str | None) -> tuple[str, str | None]:
    """``(base model, adapter folder)``; a folder that is an adapter names its base."""
    file = Path(model).expanduser() / "adapter_config.json"
    if adapter is not None or not file.is_file():
        return model, adapter
    try:
        named = json.loads(file.read_text("utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: not an adapter's configuration ({one_line(error)})") from None
    return str(named), model


def _trained_for(adapter: str | None) -> str:
    """The task in the ``recipe.json`` beside an adapter, or nothing."""
    file = Path(adapter or ".").expanduser() / "recipe.json"
    if adapter is None or not file.is_file():
        return ""
    try:
        return str(json.loads(file.read_text("utf-8"))["config"]["task"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{file}: not the recipe of an adapter ({one_line(error)})") from None


def load_model(base: str, adapter: str | None = None, device: str | None = None) -> tuple[Any, Any]:
    """Tokenizer and model in evaluation mode, the adapter merged into it.

    Raises `ConfigError` for a tokenizer without a chat template, `DataError` for missing weights,
    and whatever the libraries raise for a broken folder.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as said

    folder = model_folder(base)
    bars = said.is_progress_bar_enabled()
    said.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False)
        if not tokenizer.chat_template:
            raise ConfigError(f"{base}: its tokenizer has no chat template; take an instruct model")
        model, info = AutoModelForCausalLM.from_pretrained(
            str(folder), trust_remote_code=False, use_safetensors=True, dtype="auto",
            output_loading_info=True,
        )  # fmt: skip
        lacking = [*info["missing_keys"], *info["mismatched_keys"]]
        if lacking:
            raise DataError(f"{folder}: {lacking[0]} and {len(lacking) - 1} more are not in it")
        if adapter is not None:
            from peft import PeftModel

            model = PeftModel.from_pretrained(
                model, str(Path(adapter).expanduser()), use_safetensors=True
            ).merge_and_unload()
    finally:
        if bars:
            said.enable_progress_bar()
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return tokenizer, model.to(where).eval()


def model_folder(name: str) -> Path:
    """``name`` as a folder: it is one, or the Hub or its cache has the model.

    huggingface_hub 2.4 waits for ever on a silent host, so it is asked with a time limit first.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith((".", "~", "/")) or name.count("/") != 1:
        raise DataError(f"{name!r}: no such model folder, and no name of the form OWNER/MODEL")
    from huggingface_hub import HfApi, snapshot_download

    try:
        commit = HfApi().model_info(name, timeout=TIMEOUT_S).sha
        found = snapshot_download(
            name, revision=commit, allow_patterns=_FILES, etag_timeout=TIMEOUT_S
        )
    except Exception as error:  # each generation of the library has its own connection errors
        try:
            found = snapshot_download(name, allow_patterns=_FILES, local_files_only=True)
        except Exception:
            raise DataError(
                f"{name}: neither a folder, nor in the cache, nor on the Hugging Face Hub "
                f"({one_line(error)}); `hf download {name} --local-dir FOLDER`, then hf:FOLDER"
            ) from None
    return Path(found)
