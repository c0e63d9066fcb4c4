import type { Ctx } from "../../../context.ts";
import { refuseBound } from "../../../auth/actor.ts";
import { forbidden } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { insertTemplateLabels } from "../labels/insert-template-labels.ts";
import type { LabelTemplateName } from "../../code/templates/label-templates.ts";
import { writeFirstCommit } from "../../code/git/write-first-commit.ts";
import { checkBranchName } from "../../code/branches/branch-name.ts";
import { deleteRepository } from "./delete-repository.ts";
import { type ExpiryInput, newExpiry } from "./expiry.ts";
import { type FirstContent, makeFirstFiles } from "./first-files.ts";
import { type CreationContext, insertRepository } from "./insert-repository.ts";
import { checkRepositoryName } from "./repository-name.ts";

/** The input for a new repository. */
export interface NewRepository extends FirstContent {
  name: string;
  description?: string | undefined;
  private?: boolean | undefined;
  template?: boolean | undefined;
  default_branch?: string | undefined;
  trust_model?: string | undefined;
  /** Whether to create a first commit; without it the options for its content are ignored. */
  auto_init?: boolean | undefined;
  /** The template of its first labels; "" for none. */
  issue_labels?: LabelTemplateName | "" | undefined;
  expiry?: ExpiryInput | undefined;
}

/**
 * Creates a repository for `owner`, watched by its creator: empty, or with a first commit.
 *
 * All input is validated before anything is written. If the first commit can't be stored, the
 * repository is deleted again, so that the name is free for a retry.
 *
 * In an organization that the creator does not own, the creator becomes an administrator of the
 * repository.
 *
 * @throws Failure `invalid` for an invalid name and, with a first commit, for an unknown template
 * (`malformed` for an unknown readme template) and for an end out of bounds, `conflict` for a name
 * that is taken, `forbidden` if the owner has the maximum number of repositories or if the caller's
 * token is too narrow.
 */
export async function createRepository(
  ctx: Ctx,
  creation: CreationContext,
  input: NewRepository,
): Promise<RepositoryContext> {
  const { owner, creator } = creation;
  checkRepositoryName(input.name);
  const defaultBranch = input.default_branch || ctx.config.defaultBranch;
  checkBranchName(defaultBranch, "default_branch");
  const isPrivate = input.private ?? false;
  refuseNarrowToken(ctx, isPrivate || owner.visibility !== "public");

  const files = input.auto_init ? await makeFirstFiles(ctx, owner, input, input) : undefined;
  const objectName = crypto.randomUUID();
  const columns = {
    objectName,
    networkName: objectName,
    name: input.name,
    description: input.description ?? "",
    isPrivate,
    isTemplate: input.template ?? false,
    defaultBranch,
    trustModel: input.trust_model || "default",
    expiry: newExpiry(input.expiry, ctx.now),
  };
  const { issue_labels: labelTemplate = "" } = input;
  const repo = await insertRepository(ctx, creation, columns, {
    toMore: (created) =>
      labelTemplate === "" ? [] : [insertTemplateLabels(ctx, created, labelTemplate)],
  });
  if (!files) return repo;
  try {
    return await writeFirstCommit(ctx, repo, creator, files);
  } catch (error) {
    await deleteRepository(ctx, repo);
    throw error;
  }
}

/**
 * SECURITY: refuses a token that could not see the repository it is about to create.
 *
 * @throws Failure `forbidden` for a bound token, and for a public-only token if `isHidden`.
 */
export function refuseNarrowToken({ actor }: Ctx, isHidden: boolean): void {
  refuseBound(actor);
  if (actor.scopes.isPublicOnly && isHidden) {
    throw forbidden("token scope is limited to public repos");
  }
}
