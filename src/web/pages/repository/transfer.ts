import { Hono } from "hono";

import { acceptTransfer, rejectTransfer } from "../../../domain/repos/transfers/answer-transfer.ts";
import type { WebEnv } from "../../env.ts";
import { repositoryPath } from "../addresses.ts";
import { readForm } from "../form.ts";
import { requireOwn } from "../open-page.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { enterRepositoryPage } from "./enter.ts";

/** The answers to the offer of a repository. */
export const transfer = new Hono<WebEnv>();

transfer.post("/:owner/:repo/action/accept_transfer", async (c) => {
  const page = await enterRepositoryPage(c, { mode: "read" });
  requireOwn(c, page);
  await readForm(c);
  const moved = await acceptTransfer(page.ctx, page.repo);
  return redirectAfterWrite(c, repositoryPath(moved));
});

transfer.post("/:owner/:repo/action/reject_transfer", async (c) => {
  const page = await enterRepositoryPage(c, { mode: "read" });
  requireOwn(c, page);
  await readForm(c);
  await rejectTransfer(page.ctx, page.repo);
  // Who declines a private repository does not see it any more.
  return redirectAfterWrite(c, "/");
});
