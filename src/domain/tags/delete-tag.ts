import type { Ctx } from "../../context.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { updateRefs } from "../git/update-refs.ts";
import { findRef, openSnapshot } from "../git/open-snapshot.ts";
import { requireWritable } from "../git/require-writable.ts";
import { tagRef } from "./list-tags.ts";

/** @throws Failure `not_found` if there is none. */
export async function deleteTag(ctx: Ctx, entry: RepositoryEntry, name: string): Promise<void> {
  requireWritable(entry);
  const snapshot = await openSnapshot(ctx, entry);
  const found = findRef(snapshot, tagRef(name));
  if (!found) throw notFound(`tag doesn't exist: ${name}`);
  await updateRefs(ctx, entry, snapshot.repository, [{ ref: tagRef(name), from: found.oid }]);
}
