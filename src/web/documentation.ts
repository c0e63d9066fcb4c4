import { Hono, type Context } from "hono";

import { answerAsset } from "./answer-asset.ts";
import type { WebEnv } from "./env.ts";

/**
 * The interface description, in OpenAPI 3.1 and in Swagger 2.0, and the page for it. All files are
 * served by this service.
 */
export const documentation = new Hono<WebEnv>();

documentation.get("/openapi.json", (c) => asset(c, "/openapi.json"));
documentation.get("/swagger.v1.json", (c) => asset(c, "/swagger.v1.json"));
documentation.get("/api/swagger", (c) => asset(c, "/-/swagger/"));
// Not `c.req.path`, which has no slash at its end: the page's own address ends with one.
documentation.get("/-/swagger/*", (c) => asset(c, c.req.url));
documentation.get("/-/docs/images/:name", (c) => answerAsset(c, c.req.url, {}));

/** SECURITY: only scripts from our own files. The viewer needs inline styles and data: images. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const asset = (c: Context<WebEnv>, address: string): Promise<Response> =>
  answerAsset(c, address, { "Content-Security-Policy": POLICY });
