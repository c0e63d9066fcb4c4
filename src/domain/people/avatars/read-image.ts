import { parseBase64 } from "../../../lib/base64.ts";
import { invalidField, malformed } from "../../../lib/failure.ts";
import { type ImageHeader, readImageHeader } from "../../../lib/image-header.ts";
import { stripMetadata } from "../../../lib/strip-metadata.ts";

/** Maximum bytes of an avatar. */
export const AVATAR_BYTES_MAX = 1024 * 1024;
/** Maximum width and height of an avatar: every page that shows it decodes all of its pixels. */
const AVATAR_PX_MAX = 4096;

/** An image that may become an avatar. */
export interface Image {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: ImageHeader["contentType"];
}

/**
 * Decodes and validates the image of an avatar, and removes what a camera noted in it.
 *
 * SECURITY: the type is read from the bytes, and no type can contain scripts, so SVG is not among
 * them.
 *
 * @param image Its bytes, or these in base64.
 * @throws Failure `malformed` if it is not base64; `invalid` if it is no image, or is too large.
 */
export function readImage(image: string | Uint8Array<ArrayBuffer>): Image {
  const bytes = typeof image === "string" ? parseBase64(image) : image;
  if (!bytes) throw malformed("[image]: must be base64");
  if (bytes.length > AVATAR_BYTES_MAX) {
    throw invalidField("image", `must have at most ${AVATAR_BYTES_MAX} bytes`);
  }
  const header = readImageHeader(bytes);
  if (!header) throw invalidField("image", "must be a PNG, JPEG, GIF or WebP image");
  if (header.widthPx > AVATAR_PX_MAX || header.heightPx > AVATAR_PX_MAX) {
    throw invalidField("image", `must have at most ${AVATAR_PX_MAX} pixels in width and height`);
  }
  const { contentType } = header;
  return { bytes: stripMetadata(bytes, contentType), contentType };
}
