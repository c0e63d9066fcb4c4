import { isAllowed } from "../../auth/access/permission.ts";
import type { PickKind } from "../../domain/code/contents/pick-commit.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { encodePath } from "../../shapes/urls.ts";
import { repositoryPath, sourcePath } from "./addresses.ts";
import type { Page } from "./open-page.ts";

/** The pages that change files, by the first name of their paths below the repository. */
export type EditorRoute = "_new" | "_edit" | "_delete" | "_upload" | "_diffpatch";

/** The path of a page that changes files: `/alice/project/_edit/main/docs/a.md`. */
export function editorPath(
  repo: RepositoryContext,
  route: EditorRoute,
  branch: string,
  path = "",
): string {
  const base = `${repositoryPath(repo)}/${route}/${encodePath(branch)}`;
  return path === "" ? base : `${base}/${encodePath(path)}`;
}

/** A page of a repository. */
interface RepositoryPage extends Page {
  readonly repo: RepositoryContext;
}

/** Whether the page of a repository links to its editor: its files change by commits made here. */
export const hasEditor = ({ ctx, repo: { row } }: RepositoryPage): boolean =>
  ctx.actor.user !== undefined && row.archivedAt === null && !row.isMirror;

/** The parameter by which Gitea's addresses say that a commit is reverted. */
export const PICK_KIND = "cherry-pick-type";

/** The path of the page that makes a commit again on a branch, or reverts it there. */
export const pickPath = (
  repo: RepositoryContext,
  oid: string,
  branch: string,
  kind: PickKind,
): string =>
  `${repositoryPath(repo)}/_cherrypick/${oid}/${encodePath(branch)}${kind === "revert" ? `?${PICK_KIND}=revert` : ""}`;

/** The permission to commit to the repository itself. */
export const mayCommit = (repo: RepositoryContext): boolean =>
  isAllowed(repo, { unit: "code", mode: "write" });

/** Where a form that is not sent leads back: to what it is about, or to an empty repository. */
export const unchangedPath = (repo: RepositoryContext, branch: string, path = ""): string =>
  repo.row.isEmpty
    ? repositoryPath(repo)
    : sourcePath(repo, "src", { kind: "branch", name: branch }, path);
