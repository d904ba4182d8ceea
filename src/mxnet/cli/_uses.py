"""Which MXNet names a program uses: imports, aliases and attribute chains, read from its syntax tree."""

import ast
import re
from dataclasses import dataclass, field

from .._compat.names import MODULES, OLD
from ._differences import NEIGHBOURS

FACE = "mxnet.F"  # the `F` of hybrid_forward: mxnet.ndarray or mxnet.symbol, told only when it runs
_VARIABLE = re.compile(r"MXNET_(?!TEST_)[A-Z0-9_]*[A-Z0-9]")  # MXNET_TEST_… are those of MXNet's own tests
_FOLLOWED = {"mxnet", *(name.split(".")[0] for name in (*OLD, *MODULES))}  # packages whose names are looked at
_SETTERS = ("setdefault", "putenv", "setenv")


@dataclass(frozen=True)
class Use:
    """One name at one line; `keywords` are those of the call it is the function of."""

    line: int
    name: str
    keywords: tuple = field(default=())


def uses_of(source, exported=lambda module: ()):
    """Every use in a program's text; `exported(module)` tells the names that `from module import *` brings."""
    reader = _Reader(exported)
    reader.visit(ast.parse(source))
    return sorted(reader.uses, key=lambda use: (use.line, use.name))


def variables_of(source):
    """(line, name) of the environment variables of MXNet that a program sets; what it only reads is its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _SETTERS:
            keys = node.args[:1]
        else:
            continue
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _VARIABLE.fullmatch(key.value):
                yield key.lineno, key.value


def _stored(body):
    """Names that a function's own statements assign: they are its own all through it, unless said to be global."""
    stored, outer, waiting = set(), set(), list(body if isinstance(body, list) else [body])
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return stored - outer


class _Reader(ast.NodeVisitor):
    """Walks the program with what each local name stands for: a dotted MXNet name, or None for something else."""

    def __init__(self, exported):
        self.exported = exported
        self.uses = set()
        self.scopes = [{}]

    def meaning(self, name):
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def bind(self, name, meaning):
        self.scopes[-1][name] = meaning

    def use(self, node, name, keywords=()):
        self.uses.add(Use(node.lineno, name, tuple(keywords)))

    def chain(self, node):
        """The dotted MXNet name that an expression is, or None."""
        if isinstance(node, ast.Name):
            return self.meaning(node.id)
        if isinstance(node, ast.Attribute):
            base = self.chain(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    # ------------------------------------------------------------------ what binds names
    def visit_Import(self, node):
        for alias in node.names:
            if alias.name.split(".")[0] in NEIGHBOURS:
                self.use(node, alias.name.split(".")[0])
            elif (package := alias.name.split(".")[0]) in _FOLLOWED:
                self.use(node, alias.name)
                self.bind(alias.asname or package, alias.name if alias.asname else package)

    def visit_ImportFrom(self, node):
        package = (node.module or "").split(".")[0] if not node.level else ""
        if package in NEIGHBOURS:
            self.use(node, package)
        if package not in _FOLLOWED:
            return
        for alias in node.names:
            if alias.name == "*":
                self.use(node, node.module)
                for name in self.exported(node.module) if package == "mxnet" else ():
                    self.bind(name, f"{node.module}.{name}")
                continue
            if node.module in MODULES:
                self.use(node, node.module)
            self.use(node, f"{node.module}.{alias.name}")
            self.bind(alias.asname or alias.name, f"{node.module}.{alias.name}")

    def visit_Assign(self, node):
        self.visit(node.value)
        meaning = self.chain(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and meaning:
                self.bind(target.id, meaning)
            elif not (isinstance(node.value, ast.Constant) and node.value.value is None):
                self.visit(target)  # `except ImportError: mx = None` does not take the meaning away

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            if self.meaning(node.id):
                self.bind(node.id, None)
        elif (name := self.meaning(node.id)) and name.count("."):
            self.use(node, name)

    def _function(self, node):
        for outer in (*getattr(node, "decorator_list", ()), *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(outer)
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        local = {argument.arg for argument in arguments} | _stored(node.body)
        self.scopes.append(dict.fromkeys(local))
        if getattr(node, "name", "") == "hybrid_forward" and len(arguments) > 1:
            self.bind(arguments[1].arg, FACE)
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self.scopes.pop()

    def _comprehension(self, node):
        self.scopes.append({name: None for generator in node.generators for name in _stored([generator.target])})
        self.generic_visit(node)
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815
    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function  # noqa: N815 - ast's names

    # ------------------------------------------------------------------ what uses names
    def visit_Attribute(self, node):
        name = self.chain(node)
        if name and isinstance(node.ctx, ast.Load):
            self.use(node, name)
        elif not name:
            self.visit(node.value)

    def visit_Call(self, node):
        name = self.chain(node.func)
        if name:
            self.use(node.func, name, (keyword.arg for keyword in node.keywords if keyword.arg))
        else:
            self.visit(node.func)
        for argument in (*node.args, *node.keywords):
            self.visit(argument)
