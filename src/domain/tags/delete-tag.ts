import type { Ctx } from "../../context.ts";
import { notFound } from "../../lib/failure.ts";
import type { RepositoryEntry } from "../../shapes/repository.ts";
import { moveRefs } from "../git/move-refs.ts";
import { findRef, openCode } from "../git/open-code.ts";
import { requireWritable } from "../git/require-writable.ts";
import { tagRef } from "./list-tags.ts";

/** @throws Failure `not_found` if there is none. */
export async function deleteTag(ctx: Ctx, entry: RepositoryEntry, name: string): Promise<void> {
  requireWritable(entry);
  const code = await openCode(ctx, entry);
  const found = findRef(code, tagRef(name));
  if (!found) throw notFound(`tag doesn't exist: ${name}`);
  await moveRefs(ctx, entry, code.repository, [{ ref: tagRef(name), from: found.oid }]);
}
