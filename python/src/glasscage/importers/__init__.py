"""Results of other tools as documents. None of these tools is needed to read this; their results are read by the names of their fields.

Tokens become sentences by Punkt, and a block of scores, of a sentence's tokens and a later sentence's, becomes its mean. Whatever a tool
did not measure stays unknown: it is never taken for zero.
"""

from .cage import from_cage
from .captum import from_captum
from .circuit_tracer import from_circuit_tracer
from .context_cite import from_context_cite
from .flashtrace import from_flashtrace
from .inseq import from_inseq
from .interpreto import from_interpreto
from .scores import span_scores, token_scores
from .shap import from_shap
from .thought_anchors import from_thought_anchors

__all__ = [
    "from_cage",
    "from_captum",
    "from_circuit_tracer",
    "from_context_cite",
    "from_flashtrace",
    "from_inseq",
    "from_interpreto",
    "from_shap",
    "from_thought_anchors",
    "span_scores",
    "token_scores",
]
