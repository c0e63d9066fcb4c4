import { readByteText } from "../../../git/byte-text.ts";

/** Exclusive maximum size of a pointer, in bytes. */
export const POINTER_BYTES_MAX = 1024;

/** A parsed Git LFS pointer. */
export interface LfsPointer {
  readonly oid: string;
  readonly sizeBytes: number;
}

/**
 * Parses a blob as a Git LFS pointer; undefined if it is not a pointer.
 *
 * @see git-lfs, docs/spec.md, "The Pointer".
 */
export function readLfsPointer(content: Uint8Array): LfsPointer | undefined {
  if (content.length >= POINTER_BYTES_MAX) return undefined;
  const match =
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/.exec(
      readByteText(content),
    );
  return match ? { oid: match[1] as string, sizeBytes: Number(match[2]) } : undefined;
}
