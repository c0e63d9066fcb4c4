import type { Ctx } from "../../context.ts";
import type { User } from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { boundTokenId } from "../../auth/actor.ts";
import { forbidden } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { writeFirstCommit } from "../git/write-first-commit.ts";
import { checkBranchName } from "../branches/branch-name.ts";
import { deleteRepository } from "./delete-repository.ts";
import { type FirstContent, makeFirstFiles } from "./first-files.ts";
import { insertRepository } from "./insert-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** What a client may choose of a new repository. */
export interface NewRepository extends FirstContent {
  name: string;
  description?: string | undefined;
  private?: boolean | undefined;
  template?: boolean | undefined;
  default_branch?: string | undefined;
  trust_model?: string | undefined;
  /** Whether it begins with a commit; if not, what the commit would hold is ignored. */
  auto_init?: boolean | undefined;
}

/**
 * Creates a repository for `owner`, watched by its creator: empty, or with a first commit.
 *
 * Everything is judged before anything is written. If the commit then can't be stored, the
 * repository is deleted again, so that the name is free for another try.
 *
 * The creator gets what they need to use it: in an organization where they own nothing, the role of
 * an administrator of this one repository.
 *
 * @param creator   Who creates it; may differ from the owner.
 * @param ownsOwner Whether the creator owns all of the owner's repositories anyway.
 * @throws Failure `invalid` for a name that can't be and, with a first commit, for an unknown
 * template (`malformed` if of a readme), `conflict` for one that is taken,
 * `forbidden` beyond the number of repositories the owner may have.
 */
export async function createRepository(
  ctx: Ctx,
  owner: User,
  creator: User,
  ownsOwner: boolean,
  wanted: NewRepository,
): Promise<RepositoryContext> {
  checkRepositoryName(wanted.name);
  const defaultBranch = wanted.default_branch || ctx.config.defaultBranch;
  checkBranchName(defaultBranch, "DefaultBranch");
  const isPrivate = wanted.private ?? false;
  refuseNarrowToken(ctx, isPrivate || owner.visibility !== "public");

  const files = wanted.auto_init ? await makeFirstFiles(ctx, owner, wanted, wanted) : undefined;
  const objectName = crypto.randomUUID();
  const columns = {
    objectName,
    networkName: objectName,
    name: wanted.name,
    description: wanted.description ?? "",
    isPrivate,
    isTemplate: wanted.template ?? false,
    defaultBranch,
    trustModel: wanted.trust_model || "default",
  };
  const repo = await insertRepository(ctx, { owner, creator, ownsOwner }, columns, (repoId) =>
    record(ctx, { type: "repository.created", repoId, ownerId: owner.id, name: wanted.name }),
  );
  if (!files) return repo;
  try {
    return await writeFirstCommit(ctx, repo, creator, files);
  } catch (error) {
    await deleteRepository(ctx, repo);
    throw error;
  }
}

/**
 * SECURITY: whoever showed a token that reaches certain things only makes nothing beyond them.
 *
 * @throws Failure `forbidden` where the token could not see what it would create.
 */
export function refuseNarrowToken({ actor }: Ctx, isHidden: boolean): void {
  if (boundTokenId(actor) !== undefined) {
    throw forbidden("the token is bound to repositories that exist: it can't create one");
  }
  if (actor.scopes.isPublicOnly && isHidden) {
    throw forbidden("token scope is limited to public repos");
  }
}
