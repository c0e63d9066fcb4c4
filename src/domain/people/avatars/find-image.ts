import { and, eq, isNull } from "drizzle-orm";

import type { BaseCtx } from "../../../context.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import { type AvatarImage, avatarImages } from "../../../db/schema/index.ts";
import { notFound } from "../../../lib/failure.ts";

/**
 * Finds the uploaded image of an avatar by its hash.
 *
 * Whose avatar it is does not matter: only who was shown the account or repository, or has the
 * image, knows the hash.
 *
 * @throws Failure `not_found` if nothing refers to such an image.
 */
export async function findImage({ db }: Pick<BaseCtx, "db">, hash: string): Promise<AvatarImage> {
  const [image] = await imageOf(db, { hash });
  if (!image) throw notFound();
  return image;
}

const imageOf = prepare((db, { hash }: Params<{ hash: string }>) =>
  db
    .select()
    .from(avatarImages)
    .where(and(eq(avatarImages.hash, hash), isNull(avatarImages.expiresAt))),
);
