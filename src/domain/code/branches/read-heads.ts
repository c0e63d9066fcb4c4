import type { Ctx } from "../../../context.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { parseCommit, splitSignature } from "../../../git/object/commit.ts";
import type { Oid } from "../../../git/oid.ts";
import type { PayloadCommitEntry } from "../../../shapes/git/payload-commit.ts";
import { findByAddresses } from "../../people/accounts/find-by-addresses.ts";
import type { RepositorySnapshot } from "../git/open-snapshot.ts";
import { verifySignatures } from "../signatures/verify-signatures.ts";

/**
 * Reads the head commits of a few branches, keyed by commit id.
 *
 * Cost: one database round trip, and one storage read or more per commit.
 */
export async function readHeads(
  ctx: Ctx,
  { repository: { objects } }: RepositorySnapshot,
  commitOids: Iterable<Oid>,
): Promise<Map<Oid, PayloadCommitEntry>> {
  const read = [...new Set(commitOids)].map(async (commitOid) => {
    const stored = await objects.readObject(commitOid);
    if (!stored) throw new Error(`a branch leads to ${commitOid}, which is not there`);
    const { content } = stored;
    const commit = parseCommit(content);
    return { commitOid, commit, email: commit.committer.email, split: splitSignature(content) };
  });
  const heads = await Promise.all(read);
  if (heads.length === 0) return new Map();
  const addresses = heads.flatMap(({ commit: { author, committer } }) => [
    decodeText(author.email),
    decodeText(committer.email),
  ]);
  const [users, verified] = await Promise.all([
    findByAddresses(ctx, addresses),
    verifySignatures(ctx, heads),
  ]);
  return new Map(
    verified.map(({ commitOid, commit, verification }) => {
      const author = users.get(decodeText(commit.author.email).toLowerCase());
      const committer = users.get(decodeText(commit.committer.email).toLowerCase());
      return [commitOid, { commitOid, commit, author, committer, verification }];
    }),
  );
}
