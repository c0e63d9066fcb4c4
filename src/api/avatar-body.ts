import { z } from "@hono/zod-openapi";

import { AVATAR_BYTES_MAX } from "../domain/people/avatars/read-image.ts";
import { json } from "./answers.ts";
import { body } from "./json-body.ts";

/** Maximum characters of an image in base64, with line breaks. */
const TEXT_LENGTH_MAX = AVATAR_BYTES_MAX * 1.5;

const image = z
  .string()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .openapi({
    format: "byte",
    description: `A PNG, JPEG, GIF or WebP image of at most ${AVATAR_BYTES_MAX} bytes, in base64`,
  });

/** The body of a request that sets the avatar of an account. */
export const accountAvatar = {
  required: true,
  ...json(body({ image }).openapi("UpdateUserAvatarOption"), "The avatar"),
};

/** The body of a request that sets the avatar of a repository. */
export const repositoryAvatar = {
  required: true,
  ...json(body({ image }).openapi("UpdateRepoAvatarOption"), "The avatar"),
};
