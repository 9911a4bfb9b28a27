"""The one error of documents that are none."""


class DocumentError(ValueError):
    """Why something is no explanation document."""
