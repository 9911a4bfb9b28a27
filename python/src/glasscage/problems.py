"""The error for invalid explanation documents."""


class DocumentError(ValueError):
    """The data is not a valid explanation document."""
