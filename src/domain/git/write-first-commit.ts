import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { type ByteText, encodeText, encodeUtf8 } from "../../git/byte-text.ts";
import { formatCommit } from "../../git/object/commit.ts";
import { editTree, type TreeEdit } from "../../git/object/edit-tree.ts";
import { MODE_FILE } from "../../git/object/tree.ts";
import { NULL_OID } from "../../git/oid.ts";
import { DEFAULT_PACK_LIMITS } from "../../git/pack/limits.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { toIdentity } from "../accounts/git-identity.ts";
import { pushRefs } from "./push-refs.ts";

/**
 * Writes the first commit of a repository that was just created, to its default branch.
 *
 * It takes the way of a push: the pack is checked, the ref moved and the event recorded as if it
 * had come from outside. Cost: three writes to the bucket, two calls of the repository's object.
 *
 * @returns The repository as it is with the commit.
 */
export async function writeFirstCommit(
  ctx: Ctx,
  entry: RepositoryEntry,
  author: User,
  files: ReadonlyMap<string, string>,
): Promise<RepositoryEntry> {
  const { repo } = entry;
  const stored = ctx.git.repository(repo);
  const { uploadId, snapshot } = await stored.beginUpload(ctx.now);
  const empty = await stored.open(snapshot);
  const pack = stored.startPack();
  const edits = new Map<ByteText, TreeEdit>();
  for (const [name, text] of files) {
    const oid = pack.add("blob", encodeUtf8(text));
    edits.set(encodeText(name), { mode: MODE_FILE, oid });
  }
  const treeOid = await editTree(empty.objects, undefined, edits, (content) =>
    pack.add("tree", content),
  );
  const identity = toIdentity(ctx, author);
  const commit = formatCommit({
    treeOid,
    parentOids: [],
    author: identity,
    committer: identity,
    headers: [],
    message: encodeText("Initial commit\n"),
  });
  const newOid = pack.add("commit", commit);

  const receiver = stored.receivePack(uploadId, DEFAULT_PACK_LIMITS);
  await receiver.write(pack.build());
  const received = await receiver.finish(empty);
  if (!received) throw new Error("the pack of a first commit is empty");
  const ref = encodeText(`refs/heads/${repo.defaultBranch}`);
  const [result] = await pushRefs(ctx, entry, {
    commands: [{ oldOid: NULL_OID, newOid, ref }],
    isAtomic: true,
    repository: received.repository,
    uploadId,
    pack: received.record,
  });
  if (result?.kind !== "ok") throw new Error("the first commit was refused");
  return { ...entry, repo: { ...repo, isEmpty: false, sizeBytes: received.record.packBytes } };
}
