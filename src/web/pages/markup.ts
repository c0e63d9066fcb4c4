import type { Ctx } from "../../context.ts";
import { resolveReferences } from "../../domain/repos/markup/resolve-references.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/**
 * Renders a text that people wrote about a repository, such as the notes of a release, with links
 * to what it refers to.
 *
 * Cost: one round trip of the database for a text with references.
 */
export async function renderComment(
  ctx: Ctx,
  { owner, row }: RepositoryContext,
  text: string,
): Promise<string> {
  // Loaded on first use: most pages render nothing.
  const { renderMarkup } = await import("../../render/markup.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  const repo = { owner: owner.name, name: row.name };
  return renderMarkup(
    text,
    {
      mode: "comment",
      rootUrl: ctx.rootUrl,
      repo,
      resolve: (found) => resolveReferences(ctx, repo, found),
    },
    ctx.git.openBudget(RENDER_STEPS_MAX),
  );
}
