import type { Oid } from "../../../git/oid.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { peel } from "../../../git/walk/peel.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";

/** The node of the commit that an id peels to; none if it is not a commit or no longer stored. */
export async function findNode({ catalog, graph }: OpenRepository, oid: Oid | null): Promise<Node> {
  if (oid === null) return NO_NODE;
  return resident(() => {
    const found = catalog.find(oid);
    const commit = found && peel(catalog, found);
    return commit ? graph.nodeAt(commit) : NO_NODE;
  });
}
