import type { Ctx } from "../../context.ts";
import { encodeText } from "../../git/byte-text.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { moveRefs } from "../git/move-refs.ts";
import { openCode } from "../git/open-code.ts";
import { requireWritable } from "../git/require-writable.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/** @throws Failure `not_found` if there is none, `forbidden` for the default branch. */
export async function deleteBranch(ctx: Ctx, entry: RepositoryEntry, name: string): Promise<void> {
  requireWritable(entry);
  const code = await openCode(ctx, entry);
  const { oid } = findBranch(code, name);
  const ref = branchRef(name);
  if (code.snapshot.head === encodeText(ref)) throw forbidden("can not delete default branch");
  await moveRefs(ctx, entry, code.repository, [{ ref, from: oid }]);
}
