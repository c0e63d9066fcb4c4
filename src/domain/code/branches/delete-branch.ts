import type { Ctx } from "../../../context.ts";
import { encodeText } from "../../../git/byte-text.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { updateRefs } from "../git/update-refs.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { rewordRefusal } from "../protections/ref-refusal.ts";
import { branchRef, findBranch } from "./find-branch.ts";

/**
 * @throws Failure `not_found` if the branch does not exist, `forbidden` for the default branch and
 *   a protected one.
 */
export async function deleteBranch(ctx: Ctx, repo: RepositoryContext, name: string): Promise<void> {
  requireWritable(repo);
  const snapshot = await openSnapshot(ctx, repo);
  const { oid } = findBranch(snapshot, name);
  const ref = branchRef(name);
  if (snapshot.state.head === encodeText(ref)) throw forbidden("can not delete default branch");
  await rewordRefusal(updateRefs(ctx, repo, snapshot, [{ ref, from: oid }]), () =>
    forbidden("branch protected"),
  );
}
