import { Hono } from "hono";

import type { WebEnv } from "./env.ts";

const DEFAULT_PX = 128;
const PX_MAX = 512;

export const avatars = new Hono<WebEnv>();

/**
 * The avatar of an account, generated from its id: it stays the same after a rename, and serving it needs
 * no lookup, which would reveal whether the account exists.
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
