import type { Ctx } from "../../../context.ts";
import type { ShownFile } from "../../../domain/code/contents/read-source-view.ts";
import type { MarkupOptions } from "../../../render/markup-options.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { encodePath, htmlUrlOf } from "../../../shapes/urls.ts";
import type { NamedRevision } from "../addresses.ts";
import { labelTasks } from "../markup.ts";

/**
 * Renders a document of a repository, whose links lead to the files of its revision.
 *
 * @returns Undefined for a file that is no document, and for one that is too long to be rendered.
 */
export async function renderDocument(
  ctx: Ctx,
  repo: RepositoryContext,
  revision: NamedRevision,
  { path, text }: ShownFile,
): Promise<string | undefined> {
  const { findRenderer } = await import("../../../render/renderers.ts");
  if (text === undefined || !findRenderer(path)) return undefined;
  // Loaded on first use: most pages render nothing.
  const { MARKUP_CHARS_MAX } = await import("../../../render/markup.ts");
  if (text.length > MARKUP_CHARS_MAX) return undefined;
  const { renderKept } = await import("../../../render/render-kept.ts");
  const { RENDER_STEPS_MAX } = await import("../../../render/render-budget.ts");
  const html = htmlUrlOf(repo, ctx);
  const ref = `${revision.kind}/${encodePath(revision.name)}`;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const options: MarkupOptions = {
    mode: "file",
    rootUrl: ctx.rootUrl,
    repo: { owner: repo.owner.name, name: repo.row.name },
    links: { linkBase: `${html}/src/${ref}`, rawBase: `${html}/media/${ref}`, folder },
    filePath: path,
  };
  return labelTasks(await renderKept(text, options, ctx.git.openBudget(RENDER_STEPS_MAX)));
}
