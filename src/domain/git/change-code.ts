import type { Ctx } from "../../context.ts";
import { GitError } from "../../git/error.ts";
import type { PackBuilder } from "../../git/pack/pack-builder.ts";
import { invalid } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import type { Code } from "./open-code.ts";
import type { RefMove } from "./move-refs.ts";
import { pushObjects } from "./push-objects.ts";

/** The code of a repository at one moment, and a pack to be filled with what is new. */
export interface CodeDraft {
  readonly code: Code;
  readonly pack: PackBuilder;
}

/**
 * Changes the code: opens it, lets `change` fill a pack, stores that and moves the refs that
 * `change` answers with, all of them or none.
 *
 * Cost: two calls of the repository's object, three writes to the bucket.
 *
 * @returns What `change` made, and the code with it.
 * @throws Failure `conflict` if a ref was moved by somebody else meanwhile, `invalid` for objects
 * that no repository may hold. Nothing is moved then.
 */
export async function changeCode<T extends { readonly moves: readonly RefMove[] }>(
  ctx: Ctx,
  entry: RepositoryEntry,
  change: (draft: CodeDraft) => Promise<T>,
): Promise<{ made: T; code: Code }> {
  const stored = ctx.git.repository(entry.repo);
  const { uploadId, snapshot } = await stored.beginUpload(ctx.now);
  let isPushed = false;
  try {
    const repository = await stored.open(snapshot);
    const pack = stored.startPack();
    const made = await change({ code: { snapshot, repository }, pack });
    isPushed = true;
    const push = { pack, moves: made.moves, uploadId };
    const received = await pushObjects(ctx, entry, repository, push);
    return { made, code: { snapshot, repository: received.repository } };
  } catch (error) {
    // What was pushed is cleaned up by then.
    if (!isPushed) ctx.defer(stored.dropUpload(uploadId));
    if (error instanceof GitError) throw invalid(`the change can't be made: ${error.message}`);
    throw error;
  }
}
