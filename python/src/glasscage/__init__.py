"""Glasscage in Python: explanations of what a language model's answer depends on, sentence by sentence.

An explanation is a `Document`: texts, their sentences, the attribution table **T**, and how it was made. It is read and written as JSON,
which the page opens, and fits in a link. Its properties are the arrays that the page computes from it (A, Y, context and row attribution).
`explain` creates a document with a Hugging Face model. `glasscage.importers` creates documents from the results of other tools.
"""

from .document import Document
from .importers import span_scores, token_scores
from .link import LinkError
from .problems import DocumentError
from .producer import explain
from .punkt import sentence_texts, sentences

__version__ = "0.1.0"
__all__ = ["Document", "DocumentError", "LinkError", "__version__", "explain", "sentence_texts", "sentences", "span_scores", "token_scores"]
