import { and, eq } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";

import type { Ctx } from "../../../context.ts";
import { issues, pulls } from "../../../db/schema/index.ts";
import { recordIfChanged } from "../../../events/record.ts";
import type { Oid } from "../../../git/oid.ts";
import { type CommitGraph, NO_NODE, type Node } from "../../../git/walk/commit-graph.ts";
import { findRange } from "../../../git/walk/log.ts";
import { isAncestor } from "../../../git/walk/merge-bases.ts";
import type { StoredUpdate } from "../../../shapes/events/activity.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { branchRef } from "../../code/branches/find-branch.ts";
import { adoptPacks } from "../../code/git/adopt-packs.ts";
import { findRef, openNetwork, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { updateRefs } from "../../code/git/update-refs.ts";
import { eventSubject } from "../../issues/issue/event-subject.ts";
import { insertEntryIfChanged } from "../../issues/issue/insert-entry.ts";
import { loadRules } from "../../code/protections/select-rules.ts";
import { headStatements } from "../reviews/follow-head.ts";
import { findSameChanges } from "../reviews/same-changes.ts";
import { headUpdate } from "../pull/open-pull.ts";
import { toPushBody } from "../pull/push-entry.ts";
import { storeRefsOnce } from "./store-refs.ts";

/** A move of a branch, as a push made it. */
type Move = Pick<StoredUpdate, "before" | "after">;

/**
 * Moves the heads of pull requests to the present value of their branch, and records events. All
 * have their base in `repo`, and the same branch of `headRepo` as head.
 *
 * If the branch moved again after the push, a head that has the value before the push moves to the
 * push's own value first, so that each push is recorded with its own author. The event of the later
 * push moves the head on. Repeated or out of order, the head ends at the value of the branch.
 *
 * The ref moves before the row: if a call ends between them, the next one completes it. Does
 * nothing if the branch does not exist.
 *
 * Cost: two calls of each repository's Durable Object, two more for a fork, and three rounds of D1.
 *
 * @returns The pull requests as they are now.
 * @throws Failure `conflict` if the repositories change meanwhile; the call may be repeated.
 */
export async function moveHeads(
  ctx: Ctx,
  repo: RepositoryContext,
  headRepo: RepositoryContext,
  all: readonly PullContext[],
  move?: Move,
): Promise<PullContext[]> {
  const numbers = all.map(({ row }) => row.number);
  const sides = await openNetwork(ctx, repo.row, headRepo.row, numbers);
  const [own, other] = sides;
  const { graph } = own.repository;
  const tip = findRef(other, branchRef(all[0]?.pull.headBranch ?? ""));
  const tipNode = tip ? graph.find(tip.oid) : NO_NODE;
  if (!tip || tipNode === NO_NODE) return [...all];
  const targets = new Map<Oid, PullContext[]>();
  for (const pull of all) {
    const target = findTarget(graph, pull, tip.oid, move);
    targets.set(target, [...(targets.get(target) ?? []), pull]);
  }
  const moved: PullContext[] = [];
  let opened: Sides | undefined = sides;
  for (const [oid, group] of targets) {
    // An earlier group may have taken packs.
    opened ??= await openNetwork(ctx, repo.row, headRepo.row, numbers);
    await moveTo(ctx, repo, headRepo, opened, group, { oid, tip });
    opened = undefined;
    for (const each of group) moved.push({ ...each, pull: { ...each.pull, headOid: oid } });
  }
  return moved.toSorted((a, b) => a.row.id - b.row.id);
}

/** The repositories of a base and a head, opened side by side. */
type Sides = readonly [own: RepositorySnapshot, other: RepositorySnapshot];

function findTarget(
  graph: CommitGraph,
  { pull: { headOid } }: PullContext,
  tipOid: Oid,
  move: Move | undefined,
): Oid {
  if (headOid === tipOid || !move?.after || move.before !== headOid) return tipOid;
  const after = graph.find(move.after);
  // A commit that no branch reaches any more can't be taken from a fork.
  return after !== NO_NODE && isAncestor(graph, after, graph.find(tipOid)) ? move.after : tipOid;
}

/** A new head, and the ref that reaches it. */
interface Target {
  readonly oid: Oid;
  readonly tip: StoredRef;
}

async function moveTo(
  ctx: Ctx,
  repo: RepositoryContext,
  headRepo: RepositoryContext,
  [own, other]: Sides,
  group: readonly PullContext[],
  { oid, tip }: Target,
): Promise<void> {
  const { graph } = own.repository;
  const node = graph.find(oid);
  const updates = group.flatMap((pull) => headUpdate(own, pull.row.number, oid) ?? []);
  if (updates.length > 0) {
    const known = group.flatMap((pull) => knownOf(own, pull));
    const adopted =
      repo.row.id === headRepo.row.id
        ? undefined
        : await adoptPacks(
            ctx,
            [repo, own],
            [headRepo, other],
            [...findRange(graph, [node], known).nodes],
            tip,
          );
    await storeRefsOnce(ctx, repo, updates, () =>
      updateRefs(ctx, repo, own, updates, { cause: "service", adopted }),
    );
  }
  const moved = group.filter(({ pull }) => pull.headOid !== oid);
  if (moved.length === 0) return;
  const [rules, same] = await Promise.all([
    loadRules(ctx, repo),
    findSameChanges(ctx, own.repository, moved, oid, (pull) => baseOf(own, pull)?.oid ?? ""),
  ]);
  const statements: BatchItem<"sqlite">[] = [];
  for (const pull of moved) {
    const isSameChange = same.has(pull.row.id);
    statements.push(...headStatements(ctx, pull, rules, { headOid: oid, isSameChange }));
    const pushed = findHeadPush(graph, pull, node, knownOf(own, pull));
    statements.push(...headMoveStatements(ctx, pull, oid, pushed));
  }
  const [first, ...rest] = statements;
  if (first) await ctx.db.batch([first, ...rest]);
}

const baseOf = (own: RepositorySnapshot, { pull }: PullContext): StoredRef | undefined =>
  findRef(own, branchRef(pull.baseBranch));

/** The former head and the base, whose histories the repository of the base has. */
const knownOf = (own: RepositorySnapshot, context: PullContext): Node[] => {
  const { pull } = context;
  const { graph } = own.repository;
  const base = baseOf(own, context);
  const oids = [pull.headOid, ...(base ? [base.oid] : [])];
  return oids.map((oid) => graph.find(oid)).filter((node) => node !== NO_NODE);
};

/** The commits that a push adds to a pull request. */
interface HeadPush {
  readonly isForced: boolean;
  /** The commits that neither the former head nor the base has, oldest first. */
  readonly commitOids: readonly Oid[];
}

/** @param known Commits whose histories are not new. */
export function findHeadPush(
  graph: CommitGraph,
  { pull }: PullContext,
  node: Node,
  known: readonly Node[],
): HeadPush {
  const former = graph.find(pull.headOid);
  const nodes = [...findRange(graph, [node], known).nodes];
  return {
    isForced: former === NO_NODE || !isAncestor(graph, former, node),
    commitOids: nodes.map((each) => graph.oid(each)).toReversed(),
  };
}

/**
 * The statements that give a pull request another head, with the timeline entry and the event.
 * Repeated, they write nothing.
 */
export function headMoveStatements(
  ctx: Ctx,
  pull: PullContext,
  after: Oid,
  { isForced, commitOids }: HeadPush,
): BatchItem<"sqlite">[] {
  const { id: issueId, repoId } = pull.row;
  const { headOid: before } = pull.pull;
  const { isPull: _, ...subject } = eventSubject(pull);
  const body = toPushBody(isForced, isForced ? [before, after] : commitOids);
  return [
    ctx.db
      .update(pulls)
      .set({ headOid: after, mergeState: "checking" })
      .where(and(eq(pulls.issueId, issueId), eq(pulls.headOid, before), eq(pulls.isClosed, false))),
    insertEntryIfChanged(ctx, { kind: "pull_push", repoId, issueId, body }),
    recordIfChanged(ctx, {
      type: "pull.synchronized",
      ...subject,
      before,
      after,
      isForced,
      commitCount: commitOids.length,
    }),
    ctx.db.update(issues).set({ updatedAt: ctx.now }).where(eq(issues.id, issueId)),
  ];
}
