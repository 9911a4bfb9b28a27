"""Writes `docs/python-api.md` from the docstrings of the package: `python python/reference.py`. A test compares the file."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "python-api.md"
HEAD = """# Python reference

Everything public in the package `glasscage`, from its docstrings. [Glasscage in Python](../python/README.md) shows how the parts are used.

<!-- `python python/reference.py` writes this page. -->
"""


def reference() -> str:
    """Returns the whole page."""
    sys.path.insert(0, str(ROOT / "python" / "src"))
    import glasscage
    from glasscage import graph, groups, importers, passage, tokens

    parts = [HEAD, _members("glasscage", glasscage, [name for name in glasscage.__all__ if not name.startswith("_")])]
    of_importers = [name for name in importers.__all__ if name not in glasscage.__all__]
    parts.append(_members("glasscage.importers", importers, of_importers))
    functions = [name for name, value in vars(graph).items() if inspect.isfunction(value) and value.__module__ == graph.__name__]
    parts.append(_members("glasscage.graph", graph, [name for name in functions if not name.startswith("_")]))
    parts.append(_members("glasscage.groups", groups, ["Group", "Citation"]))
    parts.append(_members("glasscage.passage", passage, ["Passage"]))
    parts.append(_members("glasscage.tokens", tokens, ["Token", "Alternative", "Branch", "forks"]))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def _members(title: str, module: ModuleType, names: list[str]) -> str:
    entries = [text for name in names for text in _entry(name, getattr(module, name))]
    return "\n".join([f"## `{title}`", "", _text(module.__doc__), "", *entries])


def _entry(name: str, value: Any) -> Iterator[str]:
    if not inspect.isclass(value):
        yield f"### `{name}`\n\n```py\n{_signature(name, value)}\n```\n\n{_text(value.__doc__)}\n"
        return
    yield f"### `{name}`\n\n{_text(value.__doc__)}\n"
    for member, attribute in vars(value).items():
        if member.startswith("_"):
            continue
        if isinstance(attribute, property):
            returns = _returns(_definition(attribute.fget)).removeprefix(" -> ") if attribute.fget else ""
            yield f"#### `{name}.{member}`\n\nProperty: `{returns}`. {_text(attribute.__doc__)}\n".replace(" \n", "\n")
        elif isinstance(attribute, (classmethod, staticmethod)) or inspect.isfunction(attribute):
            function = getattr(value, member)
            yield f"#### `{name}.{member}`\n\n```py\n{_signature(f'{name}.{member}', function)}\n```\n\n{_text(function.__doc__)}\n"


def _signature(name: str, function: Callable[..., Any]) -> str:
    """The signature as the source has it. Evaluated annotations differ between versions of Python and numpy."""
    definition = _definition(function)
    arguments = definition.args
    without_default = [None] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*without_default, *arguments.defaults]
    parameters = [_parameter(a, d) for a, d in zip(arguments.args, defaults, strict=True) if a.arg not in ("self", "cls")]
    if arguments.vararg:
        parameters.append("*" + _parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parameters.append("*")
    parameters += [_parameter(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        parameters.append("**" + _parameter(arguments.kwarg, None))
    line = f"{name}({', '.join(parameters)}){_returns(definition)}"
    return line if len(line) <= 100 else f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){_returns(definition)}"


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {_plain(argument.annotation)}" if argument.annotation else ""
    return f"{argument.arg}{annotation}" + (f" = {ast.unparse(default)}" if default else "")


def _returns(definition: ast.FunctionDef) -> str:
    return f" -> {_plain(definition.returns)}" if definition.returns else ""


def _plain(annotation: ast.expr) -> str:
    """The annotation as in the source. Quoted types lose their quotes."""
    is_quoted = isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
    return str(annotation.value) if is_quoted else ast.unparse(annotation)


def _text(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} is written")
