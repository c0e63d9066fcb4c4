import { Hono } from "hono";

import { findImage } from "../domain/people/avatars/find-image.ts";
import { evaluateConditions, versionHeaders } from "../lib/conditional-request.ts";
import type { WebEnv } from "./env.ts";
import { renderFailure } from "./render-failure.ts";

const DEFAULT_PX = 128;
const PX_MAX = 512;

export const avatars = new Hono<WebEnv>();

/**
 * The avatar of an account, generated from its id: it stays the same after a rename, and serving it
 * needs no lookup, which would reveal whether the account exists.
 */
avatars.get("/avatars/:id{[1-9][0-9]{0,14}}", async (c) => {
  const size = Number(c.req.query("size") ?? DEFAULT_PX);
  const px = Number.isInteger(size) && size >= 16 ? Math.min(size, PX_MAX) : DEFAULT_PX;
  const { renderIdenticon } = await import("../render/identicon.ts");
  const image = renderIdenticon(`account ${c.req.param("id")}`, px);
  return c.body(image as Uint8Array<ArrayBuffer>, 200, {
    "Content-Type": "image/png",
    "Cache-Control": "public, max-age=86400, immutable",
  });
});

/**
 * How long an uploaded image is cached: where its last owner removes it, it may be shown that much
 * longer.
 */
const UPLOADED_CACHE = "public, max-age=86400, immutable";

/**
 * An uploaded image, by its hash.
 *
 * SECURITY: it is untrusted content in the service's own origin. Its type is the one read from its
 * bytes at upload, and the headers block everything that a browser could run in it.
 */
avatars.get("/avatars/:hash{[0-9a-f]{64}}", async (c) => {
  const { base } = c.var;
  const image = await findImage(base, c.req.param("hash"));
  const version = { tag: image.hash };
  const headers = {
    ...versionHeaders(version),
    "Cache-Control": UPLOADED_CACHE,
    "Content-Security-Policy": "default-src 'none'; sandbox",
  };
  const { status } = evaluateConditions(c.req.raw, version);
  if (status !== 200) return new Response(null, { status, headers });
  const body = await base.git.avatarFiles.open(image);
  return c.body(body, 200, { ...headers, "Content-Type": image.contentType });
});

avatars.onError(renderFailure);
