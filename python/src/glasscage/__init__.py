"""Glasscage in Python: explanations of what a language model's answer depends on, sentence by sentence.

An explanation is a `Document`: texts, their sentences, the attribution table **T**, and how it was made. It is read and written as the JSON
that the page opens, and travels as a link. The arrays that the page computes of it (A, Y, context and row attribution) are its properties.
`explain` makes one with a Hugging Face model; `glasscage.importers` makes one of the results of other tools.
"""

from .document import Document
from .importers import span_scores, token_scores
from .link import LinkError
from .problems import DocumentError
from .producer import explain
from .punkt import sentence_texts, sentences

__version__ = "0.1.0"
__all__ = ["Document", "DocumentError", "LinkError", "__version__", "explain", "sentence_texts", "sentences", "span_scores", "token_scores"]
