import type { FileReader } from "./file-reader.ts";
import { isNothing, readScalar, type SourceNode, valueOf } from "./source-node.ts";
import type { Concurrency } from "./workflow.ts";

/** Reads `concurrency`, of a file or a job: a group, or a map with one. */
export function readConcurrency(
  reader: FileReader,
  node: SourceNode | undefined,
): Concurrency | undefined {
  if (!node || isNothing(node)) return undefined;
  const group = node.kind === "map" ? valueOf(node, "group") : node;
  const text = reader.readText(group, "'group' of 'concurrency'");
  if (text === undefined || text === "") {
    reader.fail("'concurrency' has no group", node.offset);
    return undefined;
  }
  const cancels = valueOf(node, "cancel-in-progress");
  const word = readScalar(cancels);
  const isExpression = word?.includes("${{") === true;
  return {
    group: text,
    cancelInProgress: isExpression ? word : word?.toLowerCase() === "true",
  };
}
