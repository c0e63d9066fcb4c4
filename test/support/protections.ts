import {
  branchProtections,
  tagProtections,
  type BranchProtection,
  type ProtectionSettings,
  type TagProtection,
} from "../../src/db/schema/index.ts";
import { NO_SETTINGS } from "../../src/domain/code/protections/protection-options.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";

type RuleFields = Partial<Omit<BranchProtection, "settings">> & {
  settings?: Partial<ProtectionSettings>;
};

/** A rule as a row, in no database. */
export const ruleOf = ({ settings, ...fields }: RuleFields): BranchProtection => ({
  id: 1,
  repoId: 1,
  ownerId: null,
  name: "main",
  repositoryPatterns: "",
  priority: 1,
  isPriorityExplicit: false,
  createdAt: 1000,
  updatedAt: 1000,
  ...fields,
  settings: { ...NO_SETTINGS, ...settings },
});

/** A rule of a repository. */
export async function makeRule(
  { id: repoId }: { id: number },
  fields: RuleFields = {},
): Promise<BranchProtection> {
  const { id: _, ...row } = ruleOf({ repoId, ...fields });
  return only(await db.insert(branchProtections).values(row).returning());
}

/** A ruleset of an organization. */
export const makeRuleset = (
  { id: ownerId }: { id: number },
  fields: RuleFields = {},
): Promise<BranchProtection> => makeRule({ id: 0 }, { repoId: null, ownerId, ...fields });

/** A rule for tags. */
export const makeTagRule = async (
  { id: repoId }: { id: number },
  fields: Partial<TagProtection> = {},
): Promise<TagProtection> =>
  only(
    await db
      .insert(tagProtections)
      .values({ repoId, namePattern: "v*", createdAt: 1000, updatedAt: 1000, ...fields })
      .returning(),
  );
