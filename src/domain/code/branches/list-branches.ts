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

/**
 * Lists branches, newest head commit first, then by name.
 *
 * @param text Lists those alone whose names have it, without regard to case.
 */
export async function listBranches(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  { size, offset }: Slice,
  text = "",
): Promise<Listed<BranchEntry>> {
  const query = text.toLowerCase();
  const refs = snapshot.state.refs.filter(
    ({ name }) =>
      name.startsWith(PREFIX) && (query === "" || nameOf(name).toLowerCase().includes(query)),
  );
  const times = new Map(refs.map((ref) => [ref, timeOfCommit(snapshot, ref.oid)]));
  const timeOf = (ref: StoredRef) => times.get(ref) ?? 0;
  // The sort is stable, and refs are ordered by name.
  const sorted = refs.toSorted((a, b) => timeOf(b) - timeOf(a));
  const page = sorted.slice(offset, offset + size);
  return { items: await toEntries(ctx, repo, snapshot, page), total: refs.length };
}

/** Reads a branch with its head commit. */
export async function readBranch(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  ref: StoredRef,
): Promise<BranchEntry> {
  return only(await toEntries(ctx, repo, snapshot, [ref]));
}

async function toEntries(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  refs: readonly StoredRef[],
): Promise<BranchEntry[]> {
  const oids = refs.map(({ oid }) => oid);
  const [heads, rules] = await Promise.all([readHeads(ctx, snapshot, oids), loadRules(ctx, repo)]);
  return refs.flatMap(({ name, oid }) => {
    const head = heads.get(oid);
    return head ? [toBranchEntry(ctx, rules, nameOf(name), head)] : [];
  });
}

const nameOf = (ref: string): string => decodeText(ref.slice(PREFIX.length) as ByteText);

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
