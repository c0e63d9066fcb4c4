import { requireAccess } from "../../../auth/access/permission.ts";
import type { Requirement } from "../../../auth/access/requirement.ts";
import type { Ctx } from "../../../context.ts";
import type { Repository } from "../../../db/schema/index.ts";
import type { Budget } from "../../../git/budget.ts";
import { type ByteText, encodeText } from "../../../git/byte-text.ts";
import { BlockMissing, TablesMissing } from "../../../git/catalog/block-pool.ts";
import { notFound } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import type { PullRefs, Snapshot, StoredRef } from "../../../storage/repository-records.ts";
import type { StoredRepository } from "../../../storage/storage.ts";

/** A snapshot of a repository's refs and packs, open for reading. */
export interface RepositorySnapshot {
  readonly state: Snapshot;
  readonly repository: OpenRepository;
}

const READ_CODE: Requirement = { unit: "code", mode: "read" };

/**
 * Opens a snapshot of a repository if the caller may read its code. It has no refs of pull requests
 * but those of `pulls`.
 *
 * The tables of large packs are read by block: what looks at objects does so by `resident`. Commits
 * need no block.
 *
 * Cost: one call of the repository's Durable Object, and two reads per pack that is not cached.
 *
 * @param budget Bounds the reads of objects; by default the request's budget.
 * @throws Failure `not_found` if the caller may not read the code unit, or if it is disabled.
 */
export async function openSnapshot(
  ctx: Ctx,
  repo: RepositoryContext,
  budget: Budget = ctx.git.budget,
  pulls: PullRefs = "none",
): Promise<RepositorySnapshot> {
  requireAccess(repo, READ_CODE);
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot(pulls);
  return { state: snapshot, repository: await stored.openByBlock(snapshot, budget) };
}

/**
 * Opens a snapshot as `openSnapshot` does, with whole tables: for work that takes most objects of a
 * tree or of a history.
 */
export async function openWholeSnapshot(
  ctx: Ctx,
  repo: RepositoryContext,
  budget: Budget,
  pulls: PullRefs = "none",
): Promise<RepositorySnapshot> {
  requireAccess(repo, READ_CODE);
  const stored = ctx.git.repository(repo.row);
  const snapshot = await stored.snapshot(pulls);
  return { state: snapshot, repository: await stored.open(snapshot, budget) };
}

/** Times that a read is repeated for a block that it misses before it gets whole tables. */
const REPEATS_MAX = 64;

/**
 * Reads from a snapshot as `openSnapshot` opens it.
 *
 * @param work Changes nothing: where it looks at an object without `resident`, it is repeated with
 * the block that it misses, and in the end with whole tables.
 * @param pulls Which refs of pull requests the snapshot has.
 */
export async function readSnapshot<T>(
  ctx: Ctx,
  repo: RepositoryContext,
  work: (snapshot: RepositorySnapshot) => Promise<T>,
  pulls: PullRefs = "none",
): Promise<T> {
  requireAccess(repo, READ_CODE);
  const stored = ctx.git.repository(repo.row);
  const state = await stored.snapshot(pulls);
  return readPacks(ctx, stored, state, (repository) => work({ state, repository }));
}

/**
 * Does work of a read on packs whose tables are read by block, again with each block that it
 * misses.
 */
async function readPacks<T>(
  ctx: Ctx,
  stored: StoredRepository,
  packs: Pick<Snapshot, "packs">,
  work: (repository: OpenRepository) => Promise<T>,
): Promise<T> {
  const { budget } = ctx.git;
  const repository = await stored.openByBlock(packs, budget);
  for (let repeats = 0; repeats < REPEATS_MAX; repeats++) {
    try {
      return await work(repository);
    } catch (error) {
      if (error instanceof TablesMissing) break;
      if (!(error instanceof BlockMissing)) throw error;
      await error.load();
    }
  }
  return work(await stored.open(packs, budget));
}

/** Two repositories of one fork network with a common catalog of their packs. */
export type Sides = readonly [left: RepositorySnapshot, right: RepositorySnapshot];

/**
 * Reads from two repositories of one fork network with a common catalog of their packs, so that
 * their histories can be compared; with the tables of large packs by block.
 *
 * SECURITY: each snapshot keeps its own refs. Only objects reachable from these may be shown of a
 * repository.
 *
 * Cost: as `readSnapshot`. The two Durable Objects are called concurrently.
 *
 * @param work Changes nothing, as that of `readSnapshot`.
 * @throws Failure `not_found` if the caller may not read the code unit of both, or if they are in
 * different networks.
 */
export async function readSideBySide<T>(
  ctx: Ctx,
  left: RepositoryContext,
  right: RepositoryContext,
  work: (sides: Sides) => Promise<T>,
): Promise<T> {
  for (const each of [left, right]) requireAccess(each, READ_CODE);
  const found = await loadNetwork(ctx, left.row, right.row, "none");
  return readPacks(ctx, found.stored, found, (repository) => work(sidesOf(found, repository)));
}

/**
 * Opens two repositories of one fork network with a common catalog of their packs, with the tables
 * of large packs by block, for work that looks at objects by `resident`.
 *
 * SECURITY: as `readSideBySide`.
 *
 * Cost: as `openSnapshot`. The two Durable Objects are called concurrently.
 *
 * @throws Failure `not_found` if the caller may not read the code unit of both, or if they are in
 * different networks.
 */
export async function openSideBySide(
  ctx: Ctx,
  left: RepositoryContext,
  right: RepositoryContext,
): Promise<Sides> {
  for (const each of [left, right]) requireAccess(each, READ_CODE);
  return openNetwork(ctx, left.row, right.row);
}

/**
 * Opens two repositories of one fork network as `openSideBySide` does, without access checks.
 *
 * SECURITY: only for work of the service itself, whose results no caller sees.
 *
 * @param pulls Which refs of pull requests the left one has. The right one has none, unless it is
 *   the same.
 * @throws Failure `not_found` for different networks.
 */
export async function openNetwork(
  ctx: Ctx,
  left: Repository,
  right: Repository,
  pulls: PullRefs = "none",
): Promise<Sides> {
  const found = await loadNetwork(ctx, left, right, pulls);
  return sidesOf(found, await found.stored.openByBlock(found, ctx.git.budget));
}

/** The snapshots of two repositories, and the packs that either lists: the left one's first. */
interface NetworkSnapshots {
  readonly stored: StoredRepository;
  readonly states: readonly [left: Snapshot, right: Snapshot];
  readonly packs: Snapshot["packs"];
}

async function loadNetwork(
  ctx: Ctx,
  left: Repository,
  right: Repository,
  pulls: PullRefs,
): Promise<NetworkSnapshots> {
  const stored = ctx.git.repository(left);
  if (left.id === right.id) {
    const state = await stored.snapshot(pulls);
    return { stored, states: [state, state], packs: state.packs };
  }
  if (left.networkName !== right.networkName) throw notFound();
  const other = ctx.git.repository(right);
  const states = await Promise.all([stored.snapshot(pulls), other.snapshot("none")]);
  const packs = new Map(states.flatMap((each) => each.packs).map((pack) => [pack.name, pack]));
  return { stored, states, packs: [...packs.values()] };
}

function sidesOf({ states: [left, right] }: NetworkSnapshots, repository: OpenRepository): Sides {
  const snapshot = { state: left, repository };
  return [snapshot, left === right ? snapshot : { state: right, repository }];
}

/** Whether a repository has any ref. */
export const hasRefs = ({ refs, lacksPullRefs }: Snapshot): boolean =>
  refs.length > 0 || lacksPullRefs;

/** Finds a ref by its full name in UTF-16 text, by binary search. */
export function findRef(
  { state: snapshot }: Pick<RepositorySnapshot, "state">,
  fullName: string,
): StoredRef | undefined {
  const { refs } = snapshot;
  const name: ByteText = encodeText(fullName);
  let low = 0;
  let high = refs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((refs[middle] as StoredRef).name < name) low = middle + 1;
    else high = middle;
  }
  return refs[low]?.name === name ? refs[low] : undefined;
}
