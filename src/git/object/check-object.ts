import type { Steps } from "../budget.ts";
import { checkCommit } from "./check-commit.ts";
import { checkTag } from "./check-tag.ts";
import { checkTree, type SpecialBlobs } from "./check-tree.ts";
import type { Finding, FindingSeverities } from "./finding.ts";
import type { ObjectKind } from "./kind.ts";

/** Steps to check a byte of a commit or tag. */
const STEPS_PER_BYTE = 0.1;

/**
 * Checks an object as `git fsck` does on receipt. Blobs are not checked here: trees collect the ids
 * of configuration files in `special`.
 *
 * Cost: linear in the content.
 */
export function* checkObject(
  kind: ObjectKind,
  content: Uint8Array,
  severities: FindingSeverities,
  special: SpecialBlobs,
): Steps<Finding[]> {
  switch (kind) {
    case "tree":
      return yield* checkTree(content, severities, special);
    case "commit":
      yield STEPS_PER_BYTE * content.length;
      return checkCommit(content, severities);
    case "tag":
      yield STEPS_PER_BYTE * content.length;
      return checkTag(content, severities);
    case "blob":
      return [];
    default:
      return kind satisfies never;
  }
}
