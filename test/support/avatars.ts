import { createHash } from "node:crypto";

import { env } from "cloudflare:workers";
import { asc, eq } from "drizzle-orm";

import { avatarImages } from "../../src/db/schema/index.ts";
import { parseBase64 } from "../../src/lib/base64.ts";
import { db } from "./db.ts";

/** The hash of an image, given in base64. */
export const hashOf = (image: string): string =>
  createHash("sha256")
    .update(parseBase64(image) ?? "")
    .digest("hex");

/** The rows of an image, those in use first. */
export const imagesOf = (hash: string) =>
  db
    .select()
    .from(avatarImages)
    .where(eq(avatarImages.hash, hash))
    .orderBy(asc(avatarImages.expiresAt));

/** The number of files of an image in the bucket. */
export async function countFiles(hash: string): Promise<number> {
  return (await env.PACKS.list({ prefix: `avatars/${hash}` })).objects.length;
}
