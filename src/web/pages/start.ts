import { Hono } from "hono";

import type { WebEnv } from "../env.ts";
import { openPage } from "./open-page.ts";

/** Addresses that lead to a page. */
export const start = new Hono<WebEnv>();

start.get("/", async (c) => {
  const { ctx } = await openPage(c);
  return c.redirect(ctx.actor.user ? "/user/settings" : "/user/login", 303);
});

start.get("/user/settings", (c) => c.redirect("/user/settings/account", 303));
