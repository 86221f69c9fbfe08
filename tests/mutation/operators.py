"""Mutations that Cosmic Ray does not bring: its own change operators and constants, of which declarative code has few."""

from collections.abc import Iterator

from cosmic_ray.operators.operator import Example, Operator
from parso.python.tree import Keyword
from parso.tree import BaseNode, NodeOrLeaf

# Sentences, which tests don't repeat.
SENTENCES = {"help_text", "label", "verbose_name"}
Position = tuple[tuple[int, int], tuple[int, int]]


class RemoveStatement(Operator):
    """Puts `pass` in the place of a call whose result nobody takes, or of a raise."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        """Yield where each begins and ends."""
        if node.type in {"atom_expr", "raise_stmt"} and node.parent is not None and node.parent.type == "simple_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        """Return the mutated node."""
        return Keyword("pass", node.start_pos, node.get_first_leaf().prefix)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return what it makes of what."""
        return (Example("if full:\n    raise Full\n", "if full:\n    pass\n"),)


class RemoveArgument(Operator):
    """Removes a named argument of a method or of a class, as of a query or a serializer's field."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        """Yield where each begins and ends."""
        return ((argument.start_pos, argument.end_pos) for argument in _removable(node))

    def mutate(self, node: BaseNode, index: int) -> NodeOrLeaf:
        """Return the mutated node."""
        at = node.children.index(_removable(node)[index])
        # With the comma behind it; that before the last one may stay.
        comma = at + 1 < len(node.children) and node.children[at + 1].type == "operator" and node.type == "arglist"
        del node.children[at : at + 1 + comma]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return what it makes of what."""
        return (Example("Quote.objects.filter(pk=key, user=user)", "Quote.objects.filter( user=user)"),)


def _removable(node: NodeOrLeaf) -> list[BaseNode]:
    if not isinstance(node, BaseNode) or node.type not in {"arglist", "trailer"}:
        return []
    call = node if node.type == "trailer" else node.parent
    callee = call.get_previous_leaf() if call is not None and call.type == "trailer" else None
    # Our functions need each of theirs: a mistake that anything would find.
    if callee is None or not (callee.get_code(include_prefix=False)[0].isupper() or _is_attribute(callee)):
        return []
    named = (child for child in node.children if isinstance(child, BaseNode) and child.type == "argument")
    return [
        child for child in named if child.children[1].get_code().strip() == "=" and child.children[0].get_code().strip() not in SENTENCES
    ]


def _is_attribute(leaf: NodeOrLeaf) -> bool:
    before = leaf.get_previous_leaf()
    return before is not None and before.get_code().strip() == "."


class Provider(dict[str, type[Operator]]):
    """What Cosmic Ray asks for operators by name."""

    def __init__(self) -> None:
        """Offer both."""
        super().__init__({operator.__name__: operator for operator in (RemoveStatement, RemoveArgument)})
