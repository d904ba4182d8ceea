"""Which MXNet names a program uses: imports, aliases and attribute chains, read from its syntax tree."""

import ast
from dataclasses import dataclass, field


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
    """(line, name) of the environment variables of MXNet that a program mentions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("MXNET_") and node.value.isupper() and node.value.replace("_", "").isalnum():
                yield node.lineno, node.value


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
            if alias.name.split(".")[0] == "mxnet":
                self.use(node, alias.name)
                self.bind(alias.asname or "mxnet", alias.name if alias.asname else "mxnet")

    def visit_ImportFrom(self, node):
        if node.level or not node.module or node.module.split(".")[0] != "mxnet":
            return
        for alias in node.names:
            if alias.name == "*":
                self.use(node, node.module)
                for name in self.exported(node.module):
                    self.bind(name, f"{node.module}.{name}")
                continue
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
        self.scopes.append({argument.arg: None for argument in arguments})
        if getattr(node, "name", "") == "hybrid_forward" and len(arguments) > 1:
            self.bind(arguments[1].arg, "mxnet.symbol")  # F: what a symbol can do, an array can do
        for statement in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(statement)
        self.scopes.pop()

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
