import type { Ctx } from "../../context.ts";
import { resolveReferences } from "../../domain/repos/markup/resolve-references.ts";
import { toTracker } from "../../domain/repos/markup/to-tracker.ts";
import type { MarkupOptions } from "../../render/markup-options.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/**
 * Renders a text that people wrote about a repository, such as the notes of a release, with links
 * to what it refers to.
 *
 * Cost: one round trip of the database for a text with references.
 */
export async function renderComment(
  ctx: Ctx,
  repo: RepositoryContext,
  text: string,
): Promise<string> {
  // Loaded on first use: most pages render nothing.
  const { renderMarkup } = await import("../../render/markup.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  return renderMarkup(text, toOptions(ctx, repo), ctx.git.openBudget(RENDER_STEPS_MAX));
}

/**
 * Renders the message of a commit, with links to what it refers to.
 *
 * Cost: as `renderComment`.
 */
export async function renderCommitMessage(
  ctx: Ctx,
  repo: RepositoryContext,
  text: string,
): Promise<string> {
  const { renderMessage } = await import("../../render/message.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  const tracker = toTracker(repo);
  const options = { ...toOptions(ctx, repo), ...(tracker && { tracker }) };
  return renderMessage(text, options, ctx.git.openBudget(RENDER_STEPS_MAX));
}

function toOptions(ctx: Ctx, { owner, row }: RepositoryContext): MarkupOptions {
  const repo = { owner: owner.name, name: row.name };
  return {
    mode: "comment",
    rootUrl: ctx.rootUrl,
    repo,
    resolve: (found) => resolveReferences(ctx, repo, found),
  };
}
