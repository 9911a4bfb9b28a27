"""Converts results of other tools to documents. The tools need not be installed: results are read by the names of their fields.

Punkt splits the tokens into sentences. The scores between the tokens of two sentences become their mean. Scores that a tool did not measure
stay unknown and do not count as zero.
"""

from .at2 import from_at2
from .cage import from_cage
from .captum import from_captum
from .circuit_tracer import from_circuit_tracer
from .context_cite import from_context_cite
from .flashtrace import from_flashtrace
from .icx360 import from_icx360
from .inseq import from_inseq
from .interpreto import from_interpreto
from .scores import span_scores, token_scores
from .shap import from_shap
from .shapiq import from_shapiq
from .thought_anchors import from_thought_anchors

__all__ = [
    "from_at2",
    "from_cage",
    "from_captum",
    "from_circuit_tracer",
    "from_context_cite",
    "from_flashtrace",
    "from_icx360",
    "from_inseq",
    "from_interpreto",
    "from_shap",
    "from_shapiq",
    "from_thought_anchors",
    "span_scores",
    "token_scores",
]
