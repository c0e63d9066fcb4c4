import { corrupt } from "../error.ts";

/** The four kinds of object. */
export type ObjectKind = "commit" | "tree" | "blob" | "tag";

/** Each kind's number in packs and in the tables of the engine. */
export const KIND_CODES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export const COMMIT = KIND_CODES.commit;
export const TREE = KIND_CODES.tree;
export const BLOB = KIND_CODES.blob;
export const TAG = KIND_CODES.tag;

const KINDS: readonly (ObjectKind | undefined)[] = [undefined, "commit", "tree", "blob", "tag"];

/**
 * The kind that `code` stands for.
 *
 * @throws GitError `corrupt` for any other number.
 */
export function kindOf(code: number): ObjectKind {
  const kind = KINDS[code];
  if (!kind) throw corrupt(`object of type ${code}`);
  return kind;
}

/** True for the name of a kind, as a tag's `type` line must hold. */
export function isObjectKind(text: string): text is ObjectKind {
  return Object.hasOwn(KIND_CODES, text);
}
