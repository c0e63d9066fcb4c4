import { decodeText } from "../../../git/byte-text.ts";
import { parseCommit } from "../../../git/object/commit.ts";
import type { Node } from "../../../git/walk/commit-graph.ts";
import type { RepositorySnapshot } from "../../code/git/open-snapshot.ts";

/** The message of a commit. */
export async function readMessage(
  { repository: { objects, graph } }: RepositorySnapshot,
  node: Node,
): Promise<string> {
  return decodeText(parseCommit(await objects.readAt(graph.location(node))).message);
}

/** The title of a run whose workflow gives it none. */
export const subjectOfMessage = (message: string): string => message.split("\n", 1)[0] ?? "";
