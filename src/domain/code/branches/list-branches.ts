import type { Ctx } from "../../../context.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import { only } from "../../../lib/only.ts";
import type { BranchEntry } from "../../../shapes/git/branch.ts";
import type { PayloadCommitEntry } from "../../../shapes/git/payload-commit.ts";
import type { RepositoryRules } from "../../../shapes/repos/repository-rules.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { timeOfCommit } from "../git/time-of-commit.ts";
import { rulesOfBranch } from "../protections/match-rule.ts";
import { callerOf, mayMerge, mayPush } from "../protections/permitted.ts";
import { loadRules } from "../protections/select-rules.ts";
import type { Listed, Slice } from "../../slice.ts";
import { readHeads } from "./read-heads.ts";

const PREFIX = "refs/heads/";

/** Lists branches as `findBranches` does. */
export async function listBranches(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  slice: Slice,
): Promise<Listed<BranchEntry>> {
  const { items, total } = findBranches(snapshot, slice);
  return { items: await readBranches(ctx, repo, snapshot, items), total };
}

/**
 * Finds the refs of branches, newest head commit first, then by name.
 *
 * @param text Finds those alone whose names have it, without regard to case.
 */
export function findBranches(
  snapshot: RepositorySnapshot,
  { size, offset }: Slice,
  text = "",
): Listed<StoredRef> {
  const query = text.toLowerCase();
  const refs = snapshot.state.refs.filter(
    ({ name }) =>
      name.startsWith(PREFIX) && (query === "" || branchNameOf(name).toLowerCase().includes(query)),
  );
  const times = new Map(refs.map((ref) => [ref, timeOfCommit(snapshot, ref.oid)]));
  const timeOf = (ref: StoredRef) => times.get(ref) ?? 0;
  // The sort is stable, and refs are ordered by name.
  const sorted = refs.toSorted((a, b) => timeOf(b) - timeOf(a));
  return { items: sorted.slice(offset, offset + size), total: refs.length };
}

/** Reads a branch with its head commit. */
export async function readBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  ref: StoredRef,
): Promise<BranchEntry> {
  return only(await readBranches(ctx, repo, snapshot, [ref]));
}

/** Reads branches with their head commits. */
export async function readBranches(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  refs: readonly StoredRef[],
): Promise<BranchEntry[]> {
  const oids = refs.map(({ oid }) => oid);
  const [heads, rules] = await Promise.all([readHeads(ctx, snapshot, oids), loadRules(ctx, repo)]);
  return refs.flatMap(({ name, oid }) => {
    const head = heads.get(oid);
    return head ? [toBranchEntry(ctx, rules, branchNameOf(name), head)] : [];
  });
}

/** The short name of a branch. @param ref Its full name. */
export const branchNameOf = (ref: string): string =>
  decodeText(ref.slice(PREFIX.length) as ByteText);

/** A branch with its head commit and its protection. */
export function toBranchEntry(
  ctx: Ctx,
  repoRules: RepositoryRules,
  name: string,
  head: PayloadCommitEntry,
): BranchEntry {
  const rules = rulesOfBranch(repoRules, name, ctx.git.budget);
  const caller = callerOf(ctx, repoRules);
  return {
    name,
    head,
    rules,
    isPushable: rules.every(({ settings }) => mayPush(settings, caller)),
    isMergeable: rules.every(({ settings }) => mayMerge(settings, caller)),
  };
}
