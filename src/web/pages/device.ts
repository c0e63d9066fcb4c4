import type { Context } from "hono";

import type { Device } from "../../domain/sessions/start-session.ts";
import { readClientNetwork } from "../../entrance/client-network.ts";
import type { WebEnv } from "../env.ts";

/** The browser that a request comes from. */
export const readDevice = (c: Context<WebEnv>): Device => ({
  userAgent: c.req.header("user-agent") ?? "",
  network: readClientNetwork(c.req.raw.headers, c.var.base.config.clientAddressHeader),
});
