import { Hono } from "hono";

import type { WebEnv } from "../../env.ts";
import { openPublicPage } from "../open-page.ts";
import { renderDashboard } from "./dashboard.tsx";
import { renderLanding } from "./landing.tsx";

/** The first page: what the service is, or what the reader works on. */
export const home = new Hono<WebEnv>();

home.get("/", async (c) => {
  const page = await openPublicPage(c, "always");
  const { user } = page.ctx.actor;
  return user ? renderDashboard(c, page, user) : renderLanding(c, page);
});
