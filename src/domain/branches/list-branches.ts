import type { Ctx } from "../../context.ts";
import { type ByteText, decodeText } from "../../git/byte-text.ts";
import { only } from "../../lib/only.ts";
import type { BranchEntry } from "../../shapes/git/branch.ts";
import type { StoredRef } from "../../storage/repository-records.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { timeOfCommit } from "../git/time-of-commit.ts";
import type { Listed, Slice } from "../slice.ts";
import { readHeads } from "./read-heads.ts";

const PREFIX = "refs/heads/";

/** Lists branches, newest head commit first, then by name. */
export async function listBranches(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  { size, offset }: Slice,
): Promise<Listed<BranchEntry>> {
  const refs = snapshot.state.refs.filter(({ name }) => name.startsWith(PREFIX));
  const times = new Map(refs.map((ref) => [ref, timeOfCommit(snapshot, ref.oid)]));
  const timeOf = (ref: StoredRef) => times.get(ref) ?? 0;
  // The sort is stable, and refs are ordered by name.
  const sorted = refs.toSorted((a, b) => timeOf(b) - timeOf(a));
  const page = sorted.slice(offset, offset + size);
  return { items: await toEntries(ctx, snapshot, page), total: refs.length };
}

/** Reads a branch with its head commit. */
export async function readBranch(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  ref: StoredRef,
): Promise<BranchEntry> {
  return only(await toEntries(ctx, snapshot, [ref]));
}

async function toEntries(
  ctx: Ctx,
  snapshot: RepositorySnapshot,
  refs: readonly StoredRef[],
): Promise<BranchEntry[]> {
  const heads = await readHeads(
    ctx,
    snapshot,
    refs.map(({ oid }) => oid),
  );
  return refs.flatMap(({ name, oid }) => {
    const head = heads.get(oid);
    return head ? [{ name: decodeText(name.slice(PREFIX.length) as ByteText), head }] : [];
  });
}
