import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { encodeText, encodeUtf8 } from "../../../git/byte-text.ts";
import { MODE_FILE } from "../../../git/object/tree.ts";
import { TreeDraft } from "../../../git/tree-draft.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { toIdentity } from "../../people/accounts/git-identity.ts";
import { commitChange, type SnapshotDraft } from "./commit-change.ts";
import { makeCommit } from "./make-commit.ts";

/**
 * Writes the first commit of a newly created repository to its default branch.
 *
 * Follows the path of a push: the pack is checked, the ref updated and the event recorded.
 *
 * Cost: three bucket writes, two calls of the repository's Durable Object.
 *
 * @returns The repository with the commit.
 */
export async function writeFirstCommit(
  ctx: Ctx,
  repo: RepositoryContext,
  author: User,
  files: ReadonlyMap<string, string>,
): Promise<RepositoryContext> {
  const { row } = repo;
  const makeChange = async ({ snapshot, pack }: SnapshotDraft) => {
    const tree = new TreeDraft(snapshot.repository.objects, undefined);
    for (const [name, text] of files) {
      const oid = pack.add("blob", encodeUtf8(text));
      await tree.put([encodeText(name)], { mode: MODE_FILE, oid });
    }
    const treeOid = await tree.write((content) => pack.add("tree", content));
    const identity = toIdentity(ctx, author);
    const fields = {
      treeOid,
      parentOids: [],
      author: identity,
      committer: identity,
      message: encodeText("Initial commit\n"),
    };
    const commit = await makeCommit(ctx, fields, { operation: "first_commit", people: [author] });
    const ref = `refs/heads/${row.defaultBranch}`;
    return { updates: [{ ref, to: pack.add("commit", commit) }] };
  };
  // No rule of an organization is about how its repositories begin.
  const { packBytes } = await commitChange(ctx, repo, makeChange, { cause: "service" });
  return { ...repo, row: { ...row, isEmpty: false, sizeBytes: packBytes } };
}
