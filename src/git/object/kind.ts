import { corrupt } from "../error.ts";

/** The four object types. */
export type ObjectKind = "commit" | "tree" | "blob" | "tag";

/** The type number of each kind, in packs and in the engine's tables. */
export const KIND_CODES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export const COMMIT = KIND_CODES.commit;
export const TREE = KIND_CODES.tree;
export const BLOB = KIND_CODES.blob;
export const TAG = KIND_CODES.tag;

const KINDS: readonly (ObjectKind | undefined)[] = [undefined, "commit", "tree", "blob", "tag"];

/**
 * Returns the kind with the type number `code`.
 *
 * @throws GitError `corrupt` for any other number.
 */
export function kindOf(code: number): ObjectKind {
  const kind = KINDS[code];
  if (!kind) throw corrupt(`object of type ${code}`);
  return kind;
}

/** True for the name of a kind, as in a tag's `type` line. */
export function isObjectKind(text: string): text is ObjectKind {
  return Object.hasOwn(KIND_CODES, text);
}
