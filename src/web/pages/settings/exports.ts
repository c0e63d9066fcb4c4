import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import { exportRepository } from "../../../domain/exchange/exports/export-repository.ts";
import { exportAccount } from "../../../domain/operations/account-export/export-account.ts";
import { answerDownload, type Download } from "../../../lib/download.ts";
import { log } from "../../../lib/log.ts";
import type { WebEnv } from "../../env.ts";
import { openOwnPage, requireCookie, requireOwn } from "../open-page.ts";
import { enterRepositoryPage } from "../repository/enter.ts";

/** Downloads of all that the reader has here. */
export const exports = new Hono<WebEnv>({ router: new TrieRouter() });

exports.get("/user/settings/export", async (c) => {
  const { ctx, user } = await openOwnPage(c);
  return send(c, exportAccount(ctx, user), { userId: user.id });
});

exports.get("/user/settings/export/:owner/:repo", async (c) => {
  requireCookie(c);
  const page = await enterRepositoryPage(c, { mode: "admin" });
  requireOwn(c, page);
  return send(c, exportRepository(page.ctx, page.repo), { repoId: page.repo.row.id });
});

async function send(
  c: Context<WebEnv>,
  file: Download,
  of: Readonly<Record<string, number>>,
): Promise<Response> {
  const request = { method: c.req.method, headers: new Headers() };
  const response = await answerDownload(request, file, (sentBytes) =>
    log("export:sent", { id: c.var.requestId, ...of, sentBytes }),
  );
  // As pages of one reader.
  response.headers.set("Cache-Control", "no-store");
  return response;
}
