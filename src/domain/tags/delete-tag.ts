import type { Ctx } from "../../context.ts";
import { invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { updateRefs } from "../git/update-refs.ts";
import { findRef, openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { rewordRefusal } from "../protections/ref-refusal.ts";
import { tagRef } from "./list-tags.ts";

/** @throws Failure `not_found` if the tag does not exist, `invalid` if a rule keeps it from the caller. */
export async function deleteTag(ctx: Ctx, repo: RepositoryContext, name: string): Promise<void> {
  requireWritable(repo);
  const snapshot = await openSnapshot(ctx, repo);
  const found = findRef(snapshot, tagRef(name));
  if (!found) throw noSuchRef(snapshot, `tag doesn't exist: ${name}`);
  const update = { ref: tagRef(name), from: found.oid };
  await rewordRefusal(updateRefs(ctx, repo, snapshot, [update]), () =>
    invalid("user not allowed to delete protected tag"),
  );
}
