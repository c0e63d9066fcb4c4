import type { Ctx } from "../../context.ts";
import { encodeText } from "../../git/byte-text.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { updateRefs } from "../git/update-refs.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/** @throws Failure `not_found` if there is none, `forbidden` for the default branch. */
export async function deleteBranch(ctx: Ctx, entry: RepositoryEntry, name: string): Promise<void> {
  requireWritable(entry);
  const snapshot = await openSnapshot(ctx, entry);
  const { oid } = findBranch(snapshot, name);
  const ref = branchRef(name);
  if (snapshot.state.head === encodeText(ref)) throw forbidden("can not delete default branch");
  await updateRefs(ctx, entry, snapshot.repository, [{ ref, from: oid }]);
}
