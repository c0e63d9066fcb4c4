import { Hono, type Context } from "hono";

import type { WebEnv } from "./env.ts";

/** The OpenAPI document and the Swagger page for it. All files are served by this service. */
export const documentation = new Hono<WebEnv>();

documentation.get("/openapi.json", (c) => asset(c, "/openapi.json"));
documentation.get("/swagger.v1.json", (c) => asset(c, "/openapi.json"));
documentation.get("/api/swagger", (c) => asset(c, "/-/swagger/"));
documentation.get("/-/swagger/*", (c) => asset(c, c.req.path));

/** SECURITY: only scripts from our own files. The viewer needs inline styles and data: images. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async function asset(c: Context<WebEnv>, path: string): Promise<Response> {
  const file = await c.var.assets.fetch(new Request(new URL(path, c.req.url), c.req.raw));
  const answer = new Response(file.body, file);
  answer.headers.set("Content-Security-Policy", POLICY);
  return answer;
}
