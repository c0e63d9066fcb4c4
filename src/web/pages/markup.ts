import type { Ctx } from "../../context.ts";
import { resolveReferences } from "../../domain/repos/markup/resolve-references.ts";
import { toTracker } from "../../domain/repos/markup/to-tracker.ts";
import type { MarkupOptions } from "../../render/markup-options.ts";
import { type KnownReferences, NOTHING_KNOWN, type References } from "../../render/references.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";

/**
 * Renders a text that people wrote about a repository, such as the notes of a release, with links
 * to what it refers to.
 *
 * Cost: one round trip of the database for a text with references.
 *
 * @param more Options that differ from those of a comment.
 */
export async function renderComment(
  ctx: Ctx,
  repo: RepositoryContext,
  text: string,
  more: Partial<MarkupOptions> = {},
): Promise<string> {
  // Loaded on first use: most pages render nothing.
  const { renderKept } = await import("../../render/render-kept.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  const budget = ctx.git.openBudget(RENDER_STEPS_MAX);
  return labelTasks(await renderKept(text, { ...toOptions(ctx, repo), ...more }, budget));
}

/** Names the checkboxes of task lists, which rendered Markdown has without a label, as in Gitea. */
export const labelTasks = (html: string): string =>
  html.replaceAll('<input type="checkbox" ', '<input type="checkbox" aria-label="Task" ');

/**
 * Renders texts of one page, as `renderComment` does each. What they refer to is looked up
 * together, and their work is bounded together: the last of very many are shown as plain text.
 *
 * Cost: one round trip of the database, if any text has references.
 *
 * @param more As of `renderComment`.
 */
export async function renderComments(
  ctx: Ctx,
  repo: RepositoryContext,
  texts: readonly string[],
  more: Partial<MarkupOptions> = {},
): Promise<string[]> {
  const { renderKept } = await import("../../render/render-kept.ts");
  const { RENDER_STEPS_MAX } = await import("../../render/render-budget.ts");
  const budget = ctx.git.openBudget(RENDER_STEPS_MAX);
  const options = { ...toOptions(ctx, repo), ...more };
  const { resolve } = options;
  const shared = resolve && new SharedLookup(texts.length, resolve);
  return Promise.all(
    texts.map(async (text, at) => {
      try {
        const own = {
          ...options,
          footnoteSuffix: String(at),
          ...(shared && { resolve: shared.find }),
        };
        return labelTasks(await renderKept(text, own, budget));
      } finally {
        shared?.leave();
      }
    }),
  );
}

/** References of a kind that are looked up for one page; later ones stay text. */
const SHARED_MAX = 1000;

type Resolve = NonNullable<MarkupOptions["resolve"]>;

/** Looks up the references of several texts at once, as soon as none of them can add another. */
class SharedLookup {
  /** Texts that may still ask. */
  #open: number;
  readonly #resolve: Resolve;
  #found: References[] = [];
  #lookup = Promise.withResolvers<KnownReferences>();

  constructor(texts: number, resolve: Resolve) {
    this.#open = texts;
    this.#resolve = resolve;
  }

  readonly find: Resolve = (found) => {
    this.#found.push(found);
    const { promise } = this.#lookup;
    this.#startIfComplete();
    return promise;
  };

  /** A text is rendered, or failed. */
  leave(): void {
    this.#open -= 1;
    this.#startIfComplete();
  }

  #startIfComplete(): void {
    const found = this.#found;
    if (found.length === 0 || found.length < this.#open) return;
    const { resolve } = this.#lookup;
    this.#found = [];
    this.#lookup = Promise.withResolvers();
    resolve(
      this.#resolve({
        users: [...new Set(found.flatMap(({ users }) => users))].slice(0, SHARED_MAX),
        teams: found.flatMap(({ teams }) => teams).slice(0, SHARED_MAX),
        issues: found.flatMap(({ issues }) => issues).slice(0, SHARED_MAX),
        commits: found.flatMap(({ commits }) => commits).slice(0, SHARED_MAX),
      }),
    );
  }
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

function toOptions(ctx: Ctx, home: RepositoryContext): MarkupOptions {
  const { owner, row } = home;
  const repo = { owner: owner.name, name: row.name };
  return {
    mode: "comment",
    rootUrl: ctx.rootUrl,
    repo,
    resolve: async (found) =>
      Object.values(found).every(({ length }) => length === 0)
        ? { ...NOTHING_KNOWN, tracker: toTracker(home) }
        : resolveReferences(ctx, repo, found),
  };
}
