import { checkCommit } from "./check-commit.ts";
import { checkTag } from "./check-tag.ts";
import { checkTree, type SpecialBlobs } from "./check-tree.ts";
import type { Finding, FindingSeverities } from "./finding.ts";
import type { ObjectKind } from "./kind.ts";

/**
 * Checks an object as `git fsck` does on receipt. Blobs are not checked here: trees collect the ids
 * of configuration files in `special`.
 *
 * Cost: linear in the content.
 */
export function checkObject(
  kind: ObjectKind,
  content: Uint8Array,
  severities: FindingSeverities,
  special: SpecialBlobs,
): Finding[] {
  switch (kind) {
    case "tree":
      return checkTree(content, severities, special);
    case "commit":
      return checkCommit(content, severities);
    case "tag":
      return checkTag(content, severities);
    case "blob":
      return [];
    default:
      return kind satisfies never;
  }
}
