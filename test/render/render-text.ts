import type { StepBudget } from "../../src/lib/step-budget.ts";
import { renderMarkup } from "../../src/render/markup.ts";
import type { MarkupOptions } from "../../src/render/markup-options.ts";
import type { KnownReferences, References } from "../../src/render/references.ts";

export const ROOT_URL = "https://forge.example";
export const REPO_URL = `${ROOT_URL}/ada/engine`;

/** Renders as a document on the main branch of ada/engine. */
export function render(
  source: string,
  options: Partial<MarkupOptions> = {},
  steps?: StepBudget,
): Promise<string> {
  const complete: MarkupOptions = {
    mode: "gfm",
    rootUrl: ROOT_URL,
    repo: { owner: "ada", name: "engine" },
    links: { linkBase: `${REPO_URL}/src/branch/main`, rawBase: `${REPO_URL}/media/branch/main` },
    ...options,
  };
  return renderMarkup(source, complete, steps);
}

/** Renders as a comment on an issue of ada/engine. */
export function renderComment(
  source: string,
  options: Partial<MarkupOptions> = {},
): Promise<string> {
  return renderMarkup(source, {
    mode: "comment",
    rootUrl: ROOT_URL,
    repo: { owner: "ada", name: "engine" },
    ...options,
  });
}

/** Resolves every reference: number 13 is a pull request, and commit ids are padded with zeros. */
export async function knowAll(found: References): Promise<KnownReferences> {
  return {
    users: new Set(found.users),
    teams: new Set(found.teams),
    issues: new Map(found.issues.map((issue) => [issue, issue.index === 13 ? "pulls" : "issues"])),
    commits: new Map(found.commits.map((commit) => [commit, commit.prefix.padEnd(40, "0")])),
  };
}
