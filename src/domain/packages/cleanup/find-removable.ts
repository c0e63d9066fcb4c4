import { and, asc, eq, gt, lt, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";

import type { Ctx } from "../../../context.ts";
import { qualified } from "../../../db/db.ts";
import { type Params, prepare } from "../../../db/prepared.ts";
import {
  packageFiles,
  packages,
  packageVersions,
  type Package,
  type PackageCleanupRule,
  type PackageType,
} from "../../../db/schema/index.ts";
import { isUntagged } from "../images/image.ts";
import type { ShortPattern } from "../../../render/linear-pattern.ts";
import { openVersionPattern } from "./version-pattern.ts";

const lead = alias(packageFiles, "lead");
const file = alias(packageFiles, "file");
const other = alias(packageVersions, "other");

const DAY_MS = 24 * 60 * 60 * 1000;

/** Packages looked at in one round trip. */
const PACKAGES_AT_ONCE = 20;
/** Versions of one package looked at in one round trip. */
const VERSIONS_AT_ONCE = 200;

/** The work that a search may still do: round trips, and steps of matching patterns. */
export interface CleanupBudget {
  rounds: number;
  steps: number;
}

/**
 * The versions that a rule removes from one package, oldest first, as far as one round trip shows.
 */
export interface Removable {
  readonly pkg: Package;
  readonly versions: readonly { readonly id: number; readonly version: string }[];
  /** Whether all versions of this package, and of those before it, were looked at. */
  readonly isComplete: boolean;
}

/**
 * Finds the versions that a rule removes, by package: those that are not among the newest
 * `keepCount`, that are older than `removeDays` and that match the pattern of what goes, but not
 * the one of what stays.
 *
 * Of container images the count is of tags, `latest` stays, and so does a manifest that an index
 * names.
 *
 * It ends when the budget is used up, too: `rounds` is then at most 0, or `steps`.
 *
 * @param afterId The id of the package after which it starts.
 */
export async function* findRemovable(
  { db, now }: Ctx,
  rule: PackageCleanupRule,
  budget: CleanupBudget,
  afterId = 0,
): AsyncGenerator<Removable> {
  const isRemoved = await openRule(rule, budget);
  const beforeTime = rule.removeDays > 0 ? now - rule.removeDays * DAY_MS : undefined;
  const isContainer = rule.type === "container";
  let lastId = afterId;
  while (hasLeft(budget)) {
    budget.rounds -= 2;
    const found = await packagesOfRule(db, {
      ownerId: rule.ownerId,
      type: rule.type,
      isContainer,
      keptBefore: rule.keepCount === 0 ? undefined : rule.keepCount - 1,
      afterId: lastId,
    });
    const select = (pkg: Package, kept: number | null, after: number) =>
      oldVersions(db, {
        packageId: pkg.id,
        isContainer,
        afterId: after,
        beforeId: kept ?? undefined,
        beforeTime,
      });
    // Fewer versions than are kept leave nothing to remove.
    const open = found.map(({ pkg, keptFrom: kept }) =>
      kept === null && rule.keepCount > 0 ? undefined : select(pkg, kept, 0),
    );
    const [first, ...rest] = open.filter((query) => query !== undefined);
    const pages = first ? await db.batch([first, ...rest]) : [];
    let at = 0;
    for (const [index, { pkg, keptFrom: kept }] of found.entries()) {
      let page = open[index] ? (pages[at++] ?? []) : [];
      for (;;) {
        const isLast = page.length < VERSIONS_AT_ONCE;
        const versions = page.filter(({ version }) => isRemoved(pkg, version));
        yield { pkg, versions, isComplete: isLast };
        if (isLast) break;
        if (!hasLeft(budget)) return;
        budget.rounds -= 1;
        page = await select(pkg, kept, page.at(-1)?.id ?? 0);
      }
      lastId = pkg.id;
    }
    if (found.length < PACKAGES_AT_ONCE) return;
  }
}

interface PackagesOfRule {
  readonly ownerId: number;
  readonly type: PackageType;
  readonly isContainer: boolean;
  /**
   * How many versions that stay for their count are newer than the oldest of them; undefined if
   * none stays for it.
   */
  readonly keptBefore: number | undefined;
  readonly afterId: number;
}

const packagesOfRule = prepare((db, p: Params<PackagesOfRule>) =>
  db
    .select({ pkg: packages, keptFrom: qualified<number | null>(keptFrom(p)).as("kept_from") })
    .from(packages)
    .where(
      and(eq(packages.ownerId, p.ownerId), eq(packages.type, p.type), gt(packages.id, p.afterId)),
    )
    .orderBy(asc(packages.id))
    .limit(PACKAGES_AT_ONCE),
);

interface OldVersions {
  readonly packageId: number;
  readonly isContainer: boolean;
  readonly afterId: number;
  readonly beforeId: number | undefined;
  /** In milliseconds. */
  readonly beforeTime: number | undefined;
}

const oldVersions = prepare((db, p: Params<OldVersions>) =>
  db
    .select({ id: packageVersions.id, version: packageVersions.version })
    .from(packageVersions)
    .where(
      and(
        eq(packageVersions.packageId, p.packageId),
        eq(packageVersions.isInternal, false),
        gt(packageVersions.id, p.afterId),
        p.beforeId && lt(packageVersions.id, p.beforeId),
        p.beforeTime && lt(packageVersions.createdAt, p.beforeTime),
        p.isContainer ? isContainerRemovable : undefined,
      ),
    )
    .orderBy(asc(packageVersions.id))
    .limit(VERSIONS_AT_ONCE),
);

export const hasLeft = ({ rounds, steps }: CleanupBudget): boolean => rounds > 0 && steps > 0;

/** Whether the patterns of a rule let a version go. */
async function openRule(
  { keepPattern, removePattern, matchesFullName }: PackageCleanupRule,
  budget: CleanupBudget,
): Promise<(pkg: Package, version: string) => boolean> {
  const open = (source: string) => (source === "" ? undefined : openVersionPattern(source));
  const [keep, remove] = await Promise.all([open(keepPattern), open(removePattern)]);
  const matches = ({ matches: test, states }: ShortPattern, text: string): boolean => {
    budget.steps -= states * text.length;
    return test(text);
  };
  return ({ name }, version) => {
    const text = matchesFullName ? `${name}/${version}` : version;
    if (keep && matches(keep, text)) return false;
    return !remove || matches(remove, text);
  };
}

/**
 * The id of the oldest version that stays for the count of a rule; null if there are fewer, or if
 * none stays for it.
 */
const keptFrom = ({ isContainer, keptBefore }: Params<PackagesOfRule>): SQL<number | null> =>
  keptBefore === undefined
    ? sql`null`
    : sql`(
        select ${other.id}
        from ${packageVersions} ${other}
        where ${other.packageId} = ${packages.id}
          and not ${other.isInternal}
          and ${isContainer ? sql`not ${isUntagged(sql`${other.versionKey}`)}` : sql`1`}
        order by ${other.id} desc
        limit 1
        offset ${keptBefore}
      )`;

/** The condition for a version of an image that a rule may remove. */
const isContainerRemovable: SQL = sql`(
  ${packageVersions.versionKey} <> 'latest'
  and not (
    ${isUntagged(sql`${packageVersions.versionKey}`)}
    and exists (
      select 1
      from ${packageFiles} ${lead}
      cross join ${packageFiles} ${file}
      cross join ${packageVersions} ${other}
      where ${lead.versionId} = ${packageVersions.id}
        and ${lead.isLead}
        and ${file.blobId} = ${lead.blobId}
        and ${file.compositeKey} = 'manifest'
        and ${other.id} = ${file.versionId}
        and ${other.packageId} = ${packageVersions.packageId}
        and ${other.id} <> ${packageVersions.id}
        and not ${other.isInternal}
    )
  )
)`;
