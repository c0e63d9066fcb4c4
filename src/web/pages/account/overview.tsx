import { raw } from "hono/html";
import type { Child } from "hono/jsx";

import { readReadme } from "../../../domain/code/contents/read-readme.ts";
import { countContributions } from "../../../domain/exchange/activities/list-activities.ts";
import { renderDocument } from "../repository/render-document.ts";
import type { AccountPage } from "./enter.ts";
import { Heatmap } from "./heatmap.tsx";

/**
 * The document by which an account introduces itself, and the contributions of a user.
 *
 * @returns Undefined for an account without such a document.
 */
export async function showOverview(page: AccountPage): Promise<Child | undefined> {
  const { ctx, account, facts } = page;
  if (!facts.profile) return undefined;
  const [readme, contributions] = await Promise.all([
    readReadme(ctx, facts.profile),
    account.kind === "user" ? countContributions(ctx, account) : undefined,
  ]);
  if (!readme?.file.text) return undefined;
  const html = await renderDocument(ctx, facts.profile, readme.revision, readme.file);
  return (
    <>
      {html === undefined ? (
        <pre class="box inside message">{readme.file.text}</pre>
      ) : (
        <article class="box markup">{raw(html)}</article>
      )}
      {contributions ? <Heatmap contributions={contributions} now={ctx.now} /> : undefined}
    </>
  );
}
