import { imageFailure } from "../../domain/packages/images/image-failure.ts";
import type { Reference } from "../../domain/packages/images/select-image-file.ts";
import type { Digest } from "../../domain/packages/images/image.ts";

/** A segment of an image's name, as the distribution specification has it. */
const SEGMENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const NAME = new RegExp(`^${SEGMENT}(?:/${SEGMENT})*$`);
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Clients limit the name with its host and owner to 255 characters. */
const NAME_LENGTH_MAX = 255;

/** @throws Failure `malformed`, NAME_INVALID */
export function requireImageName(name: string): string {
  if (name.length <= NAME_LENGTH_MAX && NAME.test(name)) return name;
  throw imageFailure(
    "NAME_INVALID",
    "the name of an image has lower-case letters, digits and single separators .-_ and /",
  );
}

/** Whether a text is a digest of a hash function that the registry knows. */
export const isDigest = (text: string): text is Digest => DIGEST.test(text);

/** @throws Failure `malformed`, DIGEST_INVALID */
export function requireDigest(text: string | undefined): Digest {
  if (text !== undefined && isDigest(text)) return text;
  throw digestMalformed();
}

export const digestMalformed = () =>
  imageFailure(
    "DIGEST_INVALID",
    "a digest is sha256: and 64 hex digits in lower case, or sha512: and 128 of them",
  );

/** A tag or digest of a path. @returns Undefined for a text that no manifest can have. */
export function parseReference(text: string): Reference | undefined {
  if (isDigest(text)) return { digest: text };
  return TAG.test(text) ? { tag: text } : undefined;
}
