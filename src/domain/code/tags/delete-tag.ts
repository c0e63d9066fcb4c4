import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { releases } from "../../../db/schema/index.ts";
import { conflict, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { noSuchRef } from "../git/no-such-ref.ts";
import { updateRefs } from "../git/update-refs.ts";
import { findRef, openSnapshot, type RepositorySnapshot } from "../git/open-snapshot.ts";
import type { StoredRef } from "../../../storage/repository-records.ts";
import { requireWritable } from "../git/require-writable.ts";
import { rewordRefusal } from "../protections/ref-refusal.ts";
import { tagRef } from "./list-tags.ts";

/**
 * @throws Failure `not_found` if the tag does not exist, `conflict` if it has a release, also a
 * draft, `invalid` if a rule keeps it from the caller.
 */
export async function deleteTag(ctx: Ctx, repo: RepositoryContext, name: string): Promise<void> {
  requireWritable(repo);
  const [snapshot, [release]] = await Promise.all([
    openSnapshot(ctx, repo),
    ctx.db
      .select({ id: releases.id })
      .from(releases)
      .where(
        and(
          eq(releases.repoId, repo.row.id),
          eq(releases.lowerTagName, name.toLowerCase()),
          eq(releases.tagName, name),
        ),
      ),
  ]);
  requireTag(snapshot, name);
  if (release) throw conflict("a tag attached to a release cannot be deleted directly");
  await deleteTagRef(ctx, repo, snapshot, name);
}

/** @throws Failure `not_found` if the tag does not exist. */
function requireTag(snapshot: RepositorySnapshot, name: string): StoredRef {
  const found = findRef(snapshot, tagRef(name));
  if (!found) throw noSuchRef(snapshot, `tag doesn't exist: ${name}`);
  return found;
}

/**
 * Removes the ref of a tag, whether or not a release has it.
 *
 * @throws Failure as `deleteTag`, but `conflict` only if the tag is moved meanwhile.
 */
export async function deleteTagRef(
  ctx: Ctx,
  repo: RepositoryContext,
  snapshot: RepositorySnapshot,
  name: string,
): Promise<void> {
  requireWritable(repo);
  const found = requireTag(snapshot, name);
  const update = { ref: tagRef(name), from: found.oid };
  await rewordRefusal(updateRefs(ctx, repo, snapshot, [update]), () =>
    invalid("user not allowed to delete protected tag"),
  );
}
