import type { Ctx } from "../../../context.ts";
import { type ByteText, decodeText } from "../../../git/byte-text.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";

/** The names of all refs below a folder, in their order. No round trip of the database. */
async function listNames(
  { git }: Ctx,
  { row }: RepositoryContext,
  folder: string,
): Promise<readonly string[]> {
  const { refs } = await git.repository(row).snapshot("none");
  return refs
    .filter(({ name }) => name.startsWith(folder))
    .map(({ name }) => decodeText(name.slice(folder.length) as ByteText));
}

/** The names of all branches of a repository. */
export const listBranchNames = (ctx: Ctx, repo: RepositoryContext): Promise<readonly string[]> =>
  listNames(ctx, repo, "refs/heads/");

/** The names of all tags of a repository. */
export const listTagNames = (ctx: Ctx, repo: RepositoryContext): Promise<readonly string[]> =>
  listNames(ctx, repo, "refs/tags/");
