import type { ExpressionScope } from "./expressions.ts";
import type { SourceNode, SourceScalar } from "./source-node.ts";
import { WorkflowError } from "./workflow-error.ts";

/**
 * The value of a part of a file, with its expressions replaced.
 *
 * @throws WorkflowError with its place in the file.
 */
export function evaluateNode(node: SourceNode, scope: ExpressionScope): unknown {
  if (node.kind === "list") return node.items.map((item) => evaluateNode(item, scope));
  if (node.kind === "map") {
    const entries = [...node.entries].map(
      ([name, { value }]) => [name, evaluateNode(value, scope)] as const,
    );
    return Object.fromEntries(entries);
  }
  if (typeof node.value !== "string" || !node.text.includes("${{")) return node.value;
  return inFile(node, () => scope.readValue(node.text));
}

/** The text of a part of a file with its expressions replaced. */
export function evaluateText(node: SourceScalar, scope: ExpressionScope): string {
  return inFile(node, () => scope.readText(node.text));
}

/** Gives the errors of an expression their place in the file. */
export function inFile<T>(node: SourceScalar, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof WorkflowError)) throw error;
    throw new WorkflowError(error.message, placeOf(node, error.offset));
  }
}

/** Where the expression of a scalar at a character stands in the file. */
function placeOf({ text, offset, expressions }: SourceScalar, at = 0): number {
  const before = text.slice(0, at).split("${{").length - 1;
  return expressions[before] ?? offset;
}
