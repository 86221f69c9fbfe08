"""Mutations of calls. Cosmic Ray itself changes operators and constants, of which declarative code has few."""

from collections.abc import Iterator

from cosmic_ray.operators.operator import Example, Operator
from parso.python.tree import Keyword
from parso.tree import BaseNode, NodeOrLeaf

# Sentences, which tests don't repeat, and what only spares the database work.
UNTESTED = {"help_text", "label", "verbose_name", "update_fields"}
Position = tuple[tuple[int, int], tuple[int, int]]


class RemoveStatement(Operator):
    """Puts `pass` in the place of a raise, or of a call whose result nobody takes."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        """Yield where it begins and ends."""
        if node.type in {"atom_expr", "raise_stmt"} and node.parent and node.parent.type == "simple_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        """Return what stands there instead."""
        return Keyword("pass", node.start_pos, node.get_first_leaf().prefix)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return what becomes of code."""
        return (Example("if full:\n    raise Full\n", "if full:\n    pass\n"),)


class RemoveArgument(Operator):
    """Removes a named argument of a method or a class, as of a query or a serializer's field; our functions need each of theirs."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        """Yield where each argument begins and ends."""
        return ((argument.start_pos, argument.end_pos) for argument in self._removable(node))

    def mutate(self, node: BaseNode, index: int) -> BaseNode:
        """Return the call without one."""
        at = node.children.index(self._removable(node)[index])
        # And without the comma behind it.
        del node.children[at : at + 1 + (node.children[at + 1 : at + 2] == [","])]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return what becomes of code."""
        return (Example("quotes.filter(pk=key, user=user)", "quotes.filter( user=user)"),)

    @staticmethod
    def _removable(node: NodeOrLeaf) -> list[BaseNode]:
        call = node if node.type == "trailer" else node.parent
        if node.type not in {"arglist", "trailer"} or call is None or call.type != "trailer":
            return []
        callee = call.get_previous_leaf()
        if callee.get_previous_leaf() != "." and not callee.value[0].isupper():
            return []
        arguments = (child for child in node.children if child.type == "argument" and child.children[1] == "=")
        return [argument for argument in arguments if argument.children[0].value not in UNTESTED]


OPERATORS = {operator.__name__: operator for operator in (RemoveStatement, RemoveArgument)}
