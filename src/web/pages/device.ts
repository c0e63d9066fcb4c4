import type { Context } from "hono";

import type { Device } from "../../domain/people/sessions/start-session.ts";
import type { WebEnv } from "../env.ts";

/** The browser that a request comes from. */
export const readDevice = (c: Context<WebEnv>): Device => ({
  userAgent: c.req.header("user-agent") ?? "",
  network: c.var.base.network,
});
