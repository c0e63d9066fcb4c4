import type { Ctx } from "../../context.ts";
import { decodeText } from "../../git/byte-text.ts";
import { parseCommit } from "../../git/object/commit.ts";
import type { Oid } from "../../git/oid.ts";
import type { PayloadCommitEntry } from "../../shapes/payload-commit.ts";
import { findByAddresses } from "../accounts/find-by-addresses.ts";
import type { Code } from "../git/open-code.ts";

/**
 * The commits of a few branches, by their ids.
 *
 * Cost: one round to the database, and one read or more for each commit.
 */
export async function readHeads(
  ctx: Ctx,
  { repository: { objects } }: Code,
  commitOids: Iterable<Oid>,
): Promise<Map<Oid, PayloadCommitEntry>> {
  const read = [...new Set(commitOids)].map(async (commitOid) => {
    const stored = await objects.readObject(commitOid);
    if (!stored) throw new Error(`a branch leads to ${commitOid}, which is not there`);
    const { content } = stored;
    return { commitOid, content, commit: parseCommit(content) };
  });
  const heads = await Promise.all(read);
  if (heads.length === 0) return new Map();
  const addresses = heads.flatMap(({ commit: { author, committer } }) => [
    decodeText(author.email),
    decodeText(committer.email),
  ]);
  const users = await findByAddresses(ctx, addresses);
  return new Map(
    heads.map((head) => {
      const { author, committer } = head.commit;
      const entry = {
        ...head,
        author: users.get(decodeText(author.email).toLowerCase()),
        committer: users.get(decodeText(committer.email).toLowerCase()),
      };
      return [head.commitOid, entry];
    }),
  );
}
