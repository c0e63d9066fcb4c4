import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { escapeHtml } from "../../../render/html.ts";

/**
 * The link to a commit that timelines show as the body of a reference: the API gives HTML there, as
 * Gitea does.
 */
export const commitLink = (
  { owner, row }: RepositoryContext,
  { oid, title }: { readonly oid: string; readonly title: string },
): string => `<a href="/${owner.name}/${row.name}/commit/${oid}">${escapeHtml(title)}</a>`;
