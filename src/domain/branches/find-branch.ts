import { notFound } from "../../lib/failure.ts";
import type { StoredRef } from "../../storage/repository-records.ts";
import { type Code, findRef } from "../git/open-code.ts";

export const branchRef = (name: string): string => `refs/heads/${name}`;

/** @throws Failure `not_found`. */
export function findBranch(code: Code, name: string): StoredRef {
  const ref = findRef(code, branchRef(name));
  if (!ref) throw notFound("Branch doesn't exist.");
  return ref;
}
