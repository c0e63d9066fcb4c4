import { readByteText } from "../../git/byte-text.ts";

/** Pointers are smaller than this, in bytes. */
export const POINTER_BYTES_MAX = 1024;

/** A file that is stored elsewhere, as its pointer tells it. */
export interface LfsPointer {
  readonly oid: string;
  readonly sizeBytes: number;
}

/**
 * What a blob points at, if it is a pointer of Git LFS.
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
