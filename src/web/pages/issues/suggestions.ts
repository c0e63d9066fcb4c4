import { Hono } from "hono";

import { suggestIssues } from "../../../domain/issues/lists/suggest-issues.ts";
import { suggestUsers } from "../../../domain/repos/collaborators/suggest-users.ts";
import type { WebEnv } from "../../env.ts";
import { requireCookie, requireOwn } from "../open-page.ts";
import { enterRepositoryPage } from "../repository/enter.ts";

/** What the script of a text field offers while somebody types `#` or `@`. */
export const suggestions = new Hono<WebEnv>();

/** Characters of a query that are looked at. */
const QUERY_CHARS_MAX = 100;
const SUGGESTIONS_MAX = 10;

/** A text that may be inserted, and the title or the full name of its subject. */
interface Suggestion {
  readonly text: string;
  readonly label: string;
}

suggestions.get("/:owner/:repo/issues/suggestions", async (c) => {
  requireCookie(c);
  const page = await enterRepositoryPage(c, { mode: "read" });
  requireOwn(c, page);
  const { ctx, repo } = page;
  const query = (c.req.query("q") ?? "").slice(0, QUERY_CHARS_MAX);
  const text = query.slice(1);
  const found: Suggestion[] = query.startsWith("@")
    ? (await suggestUsers(ctx, repo, text, SUGGESTIONS_MAX)).map(({ name, fullName }) => ({
        text: `@${name}`,
        label: fullName,
      }))
    : (await suggestIssues(ctx, repo, text, SUGGESTIONS_MAX)).map(({ row }) => ({
        text: `#${row.number}`,
        label: row.title,
      }));
  c.header("Cache-Control", "no-store");
  return c.json(found);
});
