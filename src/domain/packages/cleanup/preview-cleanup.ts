import type { Ctx } from "../../../context.ts";
import type { PackageCleanupRule } from "../../../db/schema/index.ts";
import type { PackageOwner } from "../package/find-package.ts";
import { listVersionsIn, type VersionOfPackage } from "../package/list-package-versions.ts";
import type { Listed, Slice } from "../../slice.ts";
import { findRemovable, hasLeft } from "./find-removable.ts";

/** Round trips to D1 of one preview, and steps of matching patterns. */
const ROUNDS_MAX = 20;
const STEPS_MAX = 50_000_000;

/** A part of what a rule would delete now. */
export interface CleanupPreview extends Listed<VersionOfPackage> {
  /** Whether more may go than was looked at. */
  readonly isIncomplete: boolean;
}

/**
 * Lists the versions that a rule would delete now, whether or not it is enabled, by package, oldest
 * first.
 */
export async function previewCleanup(
  ctx: Ctx,
  owner: PackageOwner,
  rule: PackageCleanupRule,
  { size, offset }: Slice,
): Promise<CleanupPreview> {
  const budget = { rounds: ROUNDS_MAX, steps: STEPS_MAX };
  const ids: number[] = [];
  for await (const { versions } of findRemovable(ctx, rule, budget)) {
    ids.push(...versions.map(({ id }) => id));
    if (!hasLeft(budget)) break;
  }
  const shown = ids.slice(offset, offset + size);
  const items = await listVersionsIn(ctx, owner, shown);
  return { items, total: ids.length, isIncomplete: !hasLeft(budget) };
}
