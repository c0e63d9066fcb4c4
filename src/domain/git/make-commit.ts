import type { Ctx } from "../../context.ts";
import { type Commit, formatCommit } from "../../git/object/commit.ts";

/**
 * The bytes of a commit that the service makes for somebody. Every such commit is made here.
 *
 * @returns Its content, ready to be stored.
 */
export function makeCommit(_ctx: Ctx, commit: Omit<Commit, "headers">): Promise<Uint8Array> {
  return Promise.resolve(formatCommit({ ...commit, headers: [] }));
}
