import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { applyPatch } from "../../../git/apply/apply-patch.ts";
import type { FilePatch } from "../../../git/apply/file-patch.ts";
import { parsePatch } from "../../../git/apply/parse-patch.ts";
import { type ByteText, decodeText, encodeText } from "../../../git/byte-text.ts";
import { GitError } from "../../../git/error.ts";
import { invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { requireWritable } from "../git/require-writable.ts";
import { commitFiles, type MadeCommit } from "./commit-files.ts";
import type { CommitOptions } from "./commit-options.ts";
import { splitTreePath } from "./tree-path.ts";

/**
 * Applies a patch in `git diff` format as one commit.
 *
 * @throws Failure `invalid` with git's own message for a patch that can't be parsed or does not
 * apply; otherwise as `commitChange`. Nothing is changed then.
 */
export async function patchFiles(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  text: string,
  commitOptions: CommitOptions,
): Promise<MadeCommit> {
  requireWritable(repo);
  const patches = await withGitMessage(async () => readPatch(text));
  const { made } = await commitFiles(ctx, repo, user, commitOptions, "apply-patch", (target) => {
    const { tree, pack, repository } = target;
    const write = (content: Uint8Array) => pack.add("blob", content);
    return withGitMessage(() => applyPatch({ tree, objects: repository.objects, write }, patches));
  });
  return made;
}

function readPatch(text: string): FilePatch[] {
  const patches = parsePatch(encodeText(text));
  for (const { newName } of patches) {
    if (newName !== undefined) splitTreePath(newName);
  }
  return patches;
}

async function withGitMessage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // The message contains paths as byte text.
    if (error instanceof GitError) throw invalid(decodeText(error.message as ByteText));
    throw error;
  }
}
