import type { Context } from "hono";

import { forbidden } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { type OwnPage, openOwnPage } from "./open-page.ts";

/**
 * Authenticates the reader of a page for administrators of the service.
 *
 * SECURITY: before anything is looked up, so that nobody else learns what there is.
 *
 * @throws SignInNeeded for a reader without a session, Failure `forbidden` for anybody else.
 */
export async function openAdminPage(c: Context<WebEnv>): Promise<OwnPage> {
  const page = await openOwnPage(c);
  if (!page.ctx.actor.isSiteAdmin) {
    throw forbidden("Only administrators of the service may open this page.");
  }
  return page;
}
