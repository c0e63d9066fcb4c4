import { runInTurns } from "../../../git/budget.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE } from "../../../git/walk/commit-graph.ts";
import { divergenceInTurns } from "../../../git/walk/merge-bases.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";

/** How many commits a branch has that another one lacks, and the other way round. */
export interface DivergenceCount {
  readonly ahead: number;
  readonly behind: number;
}

/**
 * Counts how far commits have diverged from one: those of a page of branches from that of the
 * default branch.
 *
 * Cost: for each, the commits between it and the merge base, within the budget of a result. Commits
 * for which it does not suffice are left out.
 */
export async function countDivergence(
  { repository }: Pick<RepositorySnapshot, "repository">,
  fromOid: Oid,
  oids: readonly Oid[],
): Promise<ReadonlyMap<Oid, DivergenceCount>> {
  const { graph, results } = repository;
  const base = graph.find(fromOid);
  const counts = await results.getOrCompute(["divergence", fromOid, oids], async (budget) => {
    const counted: [Oid, DivergenceCount][] = [];
    for (const oid of new Set(oids)) {
      if (budget.isExhausted) break;
      const node = graph.find(oid);
      if (base === NO_NODE || node === NO_NODE) continue;
      budget.consume(graph.count);
      const { left, right } = await runInTurns(divergenceInTurns(graph, base, node), budget);
      counted.push([oid, { ahead: right.length, behind: left.length }]);
    }
    return counted;
  });
  return new Map(counts);
}
