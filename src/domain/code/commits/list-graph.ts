import { finishInTurns, runInTurns } from "../../../git/budget.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { Oid } from "../../../git/oid.ts";
import { NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { Lanes, type LaneRow } from "../../../git/walk/lanes.ts";
import { countInTurns } from "../../../git/walk/log.ts";
import { topologyInTurns } from "../../../git/walk/topological-log.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { resolveName, type Revision } from "../git/find-revision.ts";
import type { Listed, Slice } from "../../slice.ts";

/** Lanes of a drawing: all further ones are drawn in the last. */
const LANES_MAX = 24;

/** Steps to place a commit, and to look at a lane for it. */
const STEPS_PER_COMMIT = 200;
const STEPS_PER_LANE = 10;

/** The name of a branch or tag. */
export type GraphRef = Pick<Revision, "name"> & { readonly kind: "branch" | "tag" };

/** A commit of a drawing of history. */
export interface GraphEntry extends LaneRow {
  readonly commitOid: Oid;
}

/**
 * Lists commits for a drawing of how they branch and merge: every child before its parents, else
 * latest first.
 *
 * Cost: a walk over the whole history for the total, and all commits up to the end of the page. The
 * lanes are a cached result: within its budget, or else the page is empty.
 *
 * @param names The branches and tags from which to list; all of them without any.
 * @returns Undefined if one of the names does not exist.
 */
export async function listGraph(
  snapshot: RepositorySnapshot,
  names: readonly string[],
  slice: Slice,
): Promise<Listed<GraphEntry> | undefined> {
  const { repository } = snapshot;
  const tips = findTips(snapshot, names);
  if (!tips) return undefined;
  const { graph, objects } = repository;
  const items = await placeCommits(repository, tips, slice);
  const counting = countInTurns(graph, tips, () => true);
  return { items, total: await finishInTurns(counting, objects.budget) };
}

function findTips(snapshot: RepositorySnapshot, names: readonly string[]): Node[] | undefined {
  if (names.length > 0) {
    const tips = names.flatMap((name) => resolveName(snapshot, name)?.node ?? []);
    return tips.length === names.length ? tips : undefined;
  }
  const { graph } = snapshot.repository;
  const all = branchesAndTags(snapshot).map(({ oid }) => graph.find(oid));
  return [...new Set(all)].filter((node) => node !== NO_NODE);
}

function placeCommits(
  { graph, results }: OpenRepository,
  tips: readonly Node[],
  { size, offset }: Slice,
): Promise<GraphEntry[]> {
  const key = ["graph", tips.map((tip) => graph.oid(tip)), offset, size] as const;
  return results.getOrCompute(key, async (budget) => {
    const nodes = await runInTurns(topologyInTurns(graph, tips, offset + size), budget);
    const lanes = new Lanes(graph);
    const entries: GraphEntry[] = [];
    for (const [at, node] of nodes.entries()) {
      budget.consume(STEPS_PER_COMMIT + STEPS_PER_LANE * lanes.width);
      const turn = budget.pause();
      if (turn) await turn;
      if (budget.isExhausted) return [];
      const row = lanes.place(node);
      if (at >= offset) entries.push({ ...narrow(row), commitOid: graph.oid(node) });
    }
    return entries;
  });
}

/** The row without the lanes that are not drawn. */
function narrow({ lane, above, below, passing }: LaneRow): LaneRow {
  const draw = (lanes: readonly number[]): number[] => [
    ...new Set(lanes.map((each) => Math.min(each, LANES_MAX - 1))),
  ];
  return {
    lane: Math.min(lane, LANES_MAX - 1),
    above: draw(above),
    below: draw(below),
    passing: draw(passing),
  };
}

/** The branches and tags at commits, by the ids of these. */
export function refsByCommit(snapshot: RepositorySnapshot): Map<Oid, GraphRef[]> {
  const refs = new Map<Oid, GraphRef[]>();
  for (const { oid, ...ref } of branchesAndTags(snapshot)) {
    const known = refs.get(oid);
    if (known) known.push(ref);
    else refs.set(oid, [ref]);
  }
  return refs;
}

function branchesAndTags({ state }: RepositorySnapshot): (GraphRef & { oid: Oid })[] {
  return state.refs.flatMap(({ name, oid, peeledOid }) => {
    const [, folder, short = ""] = /^refs\/(heads|tags)\/(.+)$/s.exec(name) ?? [];
    if (!folder) return [];
    const kind = folder === "heads" ? "branch" : "tag";
    return [{ kind, name: decodeText(short as ByteText), oid: peeledOid ?? oid } as const];
  });
}
