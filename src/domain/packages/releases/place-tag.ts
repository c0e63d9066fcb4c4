import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { Failure, invalid, notFound } from "../../../lib/failure.ts";
import { gitTimeMs } from "../../../shapes/git/git-time.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { findRevision } from "../../code/git/find-revision.ts";
import { findRef, openSnapshot } from "../../code/git/open-snapshot.ts";
import { createTag } from "../../code/tags/create-tag.ts";
import { findTag, tagRef } from "../../code/tags/list-tags.ts";

/** The tag that a published release needs. */
interface TagInput {
  readonly name: string;
  /** The branch, tag or commit to tag if there is no such tag; the default branch if empty. */
  readonly target: string;
  /** The message of a new tag; "" for a lightweight one. */
  readonly message: string;
}

/** The tag of a release: where it was there before, with its own time in milliseconds. */
export type PlacedTag = { readonly kind: "new" } | { readonly kind: "found"; readonly at: number };

/**
 * The time that orders a release among others: that of a tag that was there before, otherwise the
 * present. In whole seconds, as tags have it, so that of two in the same second the later one comes
 * first.
 */
export const timeOf = ({ now }: Ctx, tag: PlacedTag | undefined): number =>
  tag?.kind === "found" ? tag.at : Math.floor(now / 1000) * 1000;

/**
 * Creates the tag of a release, unless the repository has it.
 *
 * It is created before the release is stored: a Worker that dies in between leaves a tag, of which
 * the repeated request makes the release.
 *
 * @throws Failure `not_found` for an unknown target; as `createTag` and the rules of refs refuse.
 */
export async function placeTag(
  ctx: Ctx,
  repo: RepositoryContext,
  user: User,
  { name, target, message }: TagInput,
): Promise<PlacedTag> {
  const snapshot = await openSnapshot(ctx, repo);
  if (findRef(snapshot, tagRef(name))) {
    const found = await findTag(snapshot, name).catch((error: unknown) => {
      if (error instanceof Failure && error.kind === "not_found") {
        throw invalid(`the tag leads to no commit [tag_name: ${name}]`);
      }
      throw error;
    });
    return { kind: "found", at: gitTimeMs(found.timeSeconds) };
  }
  if (target !== "" && !(await findRevision(snapshot, target))) throw unknownTarget(target);
  await createTag(
    ctx,
    repo,
    user,
    { name, message, target },
    {
      opened: snapshot,
      protectedFailure: () => invalid(`release tag name is protected [tag_name: ${name}]`),
    },
  );
  return { kind: "new" };
}

const unknownTarget = (target: string): Failure =>
  notFound(
    `target "${target}" not found: object does not exist [id: ${target}, rel_path: ]`,
    "no-such-ref",
  );
